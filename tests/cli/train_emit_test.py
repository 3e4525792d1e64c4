# SPDX-License-Identifier: Apache-2.0
"""Every built-in model: what `mase init` writes is transformed, the result is trained, and that is emitted.

Usage: train_emit_test.py --mase PROGRAM --source FOLDER [MODEL ...]; without models all but the largest, which take minutes."""

import argparse
import json
import struct
import subprocess
import tempfile
import time
from pathlib import Path

LARGEST = {"vgg7", "deit-tiny"}


def write_npy(path, descr, shape, data):
    """A NumPy file, without NumPy."""
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def made_rows(folder, row, classes):
    """16 rows of a pattern for models without a shipped data set."""
    rows, size = 16, 1
    for length in row:
        size *= length
    folder.mkdir()
    values = [(i * 37 % 101) / 101 for i in range(rows * size)]
    write_npy(folder / "x.npy", "<f4", (rows, *row), struct.pack(f"<{len(values)}f", *values))
    write_npy(folder / "y.npy", "<i8", (rows,), struct.pack(f"<{rows}q", *(i % classes for i in range(rows))))
    return ["--dataset", "npy", "--data-dir", str(folder)]


def check(mase, model, folder):
    """An empty text, or the command that failed and what it said."""
    name, project = model["name"], ["--project-dir", ".", "--project", "out", "-q"]
    own = model["dataset"] == "npy"
    row = [int(length) for length in model["sample_shape"]]
    data = made_rows(folder / "rows", row, int(model["classes"])) if own else ["--dataset", model["dataset"]]
    at_init = [] if own else [model["dataset"]]
    software = "out/software"
    commands = [
        ["init", name, *at_init, "-o", "init.toml"],
        ["transform", "--config", "init.toml", *data, *project],
        ["train", f"{software}/transform/transformed_ckpt/graph_module.pt", *data, "--max-steps", "2"]
        + ["--batch-size", "4", "--debug", *project],
        ["emit", f"{software}/training_ckpts/last.pt", *project],
    ]
    for command in commands:
        done = subprocess.run([mase, *command], cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            return f"mase {' '.join(command)}: {done.returncode}\n{done.stderr}"
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mase", required=True)
    parser.add_argument("--source")
    parser.add_argument("models", nargs="*")
    given = parser.parse_args()
    listed = subprocess.run([given.mase, "list", "models", "--json"], capture_output=True, text=True, check=True)
    models = json.loads(listed.stdout)
    chosen = [m for m in models if m["name"] in given.models or not (given.models or m["name"] in LARGEST)]
    failed = 0
    for model in chosen:
        begun = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            said = check(Path(given.mase).resolve(), model, Path(folder))
        failed += bool(said)
        print(f"{model['name']}: {said or 'emitted'} ({time.monotonic() - begun:.1f} s)", flush=True)
    if failed or not chosen:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
