#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds a page to its word: runs the shell blocks marked <!-- run -->, and compares their output with the block marked
<!-- output --> that follows.

usage: readme_test.py --mase BINARY --source ROOT [--page PAGE.md]

Every line of a block of output stands in what the command printed, in the same order; `...` stands for any lines.
Numbers with a point and all numbers in tables are those of one machine: any number will do there. A picture that a
command writes and docs/images has under the same name shows the same nodes and edges.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

RUN_BLOCK = re.compile(
    r"^<!-- run -->\n+```sh\n(.*?)^```$(?:\n+<!-- output -->\n+```\n(.*?)^```$)?", re.MULTILINE | re.DOTALL
)
LINKED = ("configs", "scripts", "tests")  # what the commands name with relative paths


def run_block(commands, folder, environment):
    """Runs one block with every line echoed; its exit code and standard output."""
    script = "set -euxo pipefail\n" + commands
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    print(done.stdout, flush=True)
    return done.returncode, done.stdout


def comparable(line):
    """A line without the figures that differ between machines and without the widths of columns."""
    line = re.sub(r"\d+\.\d+", "#", line)
    if line.startswith("|"):
        line = re.sub(r"\d+", "#", line)
    return " ".join(line.split())


def missing_line(shown, printed):
    """The first shown line that does not follow the ones before it in what was printed; None when all do."""
    lines = iter([comparable(line) for line in printed.splitlines()])
    for line in shown.splitlines():
        if line.strip() not in ("", "...") and comparable(line) not in lines:
            return line
    return None


def titles(picture):
    """Names of the nodes and edges of an SVG of graphviz."""
    return re.findall(r"<title>(.*?)</title>", picture.read_text(encoding="utf-8"))


def check_pictures(folder, source):
    """Pictures of docs/images that the commands have made anew."""
    for picture in sorted(Path(folder).glob("*.svg")):
        stored = source / "docs/images" / picture.name
        if stored.exists() and titles(stored) != titles(picture):
            yield f"docs/images/{picture.name} is not the picture that the program draws"


def check_commands(page, text, mase, source):
    """Runs the marked blocks in order in one temporary folder, as a reader would."""
    blocks = RUN_BLOCK.findall(text)
    if not blocks:
        return [f"{page} has no shell block marked <!-- run -->"]
    path = f"{mase.parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "OMP_NUM_THREADS": "1", "LC_ALL": "C.UTF-8"}
    with tempfile.TemporaryDirectory() as folder:
        for name in LINKED:
            (Path(folder) / name).symlink_to(source / name)
        for number, (commands, shown) in enumerate(blocks, 1):
            code, printed = run_block(commands, folder, environment)
            if code:
                return [f"{page}: block {number} of those marked <!-- run --> ended with {code}:\n{commands}"]
            line = missing_line(shown, printed)
            if line is not None:
                return [f"{page}: this is not what block {number} prints, or not in this order:\n{line}"]
        complaints = list(check_pictures(folder, source))
    print(f"{len(blocks)} blocks of {page} ran")
    return complaints


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mase", type=Path, required=True)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--page", default="README.md")
    arguments = parser.parse_args()
    text = (arguments.source / arguments.page).read_text(encoding="utf-8")
    complaints = check_commands(arguments.page, text, arguments.mase.resolve(), arguments.source.resolve())
    print("\n".join(complaints))
    return int(bool(complaints))


if __name__ == "__main__":
    sys.exit(main())
