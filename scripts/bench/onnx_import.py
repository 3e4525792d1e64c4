#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `mase show` of large ONNX files with onnx.load, in one run.

Usage: onnx_import.py MASE [--rounds N]   (run with a Python that has onnx)

onnx_models.py makes two files: a vision transformer of 400 MB, and a chain of 100,000 small nodes. The time of mase is
that of the whole command, which imports the file; that of onnx.load is of the call alone, without the start of Python.
They take turns, and medians are compared. Exit status 1 where the large file takes more than a third of onnx.load's
time, or more memory than 1.2 times the file.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

LOAD = "import onnx, sys, time; t = time.perf_counter(); onnx.load(sys.argv[1]); print(time.perf_counter() - t)"
MOST_TIME, MOST_MEMORY = 1 / 3, 1.2
MODELS = pathlib.Path(__file__).with_name("onnx_models.py")


def mase_figures(program, path):
    """Seconds of the command, and bytes of memory at its peak."""
    begin = time.perf_counter()
    child = subprocess.Popen([program, "show", path], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - begin
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise SystemExit(f"{program} show {path} failed")
    return seconds, used.ru_maxrss * 1024


def load_seconds(path):
    return float(subprocess.run([sys.executable, "-c", LOAD, path], check=True, capture_output=True, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=10)
    arguments = parser.parse_args()
    missed = False
    with tempfile.TemporaryDirectory() as folder:
        for name, has_goal in (("transformer", True), ("chain", False)):
            path = pathlib.Path(folder) / "model.onnx"
            # By another process: the peak of a child is at least that of its parent.
            subprocess.run([sys.executable, "-B", MODELS, name, path], check=True)
            mase_figures(arguments.program, path)
            turns = [(*mase_figures(arguments.program, path), load_seconds(path)) for _ in range(arguments.rounds)]
            mine, memory, theirs = (statistics.median(column) for column in zip(*turns))
            size = path.stat().st_size
            missed |= has_goal and (mine > MOST_TIME * theirs or memory > MOST_MEMORY * size)
            print(
                f"{name}, {size / 1e6:.0f} MB   mase show {mine * 1e3:.0f} ms, {memory / 1e6:.0f} MB of memory"
                f"   onnx.load {theirs * 1e3:.0f} ms   ratio {theirs / mine:.2f}"
            )
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
