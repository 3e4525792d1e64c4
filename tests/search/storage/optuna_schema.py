#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes optuna_schema.txt: the tables and indices that the installed Optuna creates in a new
SQLite file, and the versions it notes there. Run it with a Python that has Optuna, after a new
release."""

import pathlib
import sqlite3
import tempfile

import optuna


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/study.db"
        optuna.storages.RDBStorage("sqlite:///" + path)
        database = sqlite3.connect(path)
        rows = database.execute("SELECT type, name, sql FROM sqlite_master WHERE sql NOT NULL")
        lines = sorted(" ".join(" ".join(row).split()) for row in rows)
        versions = database.execute(
            "SELECT schema_version, library_version, version_num FROM version_info, alembic_version"
        ).fetchone()
    lines.append(" ".join(str(version) for version in versions))
    pathlib.Path(__file__).with_suffix(".txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
