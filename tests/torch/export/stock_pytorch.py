# SPDX-License-Identifier: Apache-2.0
"""Checks exported checkpoints with stock PyTorch: test_torch writes the cases, check_stock.py runs them.

The interpreter is $MASE_PYTHON, the one that the build was configured with, or the .venv of the source
folder: the first that can import torch and numpy. Without one the test is skipped (exit status 77).
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
TEST_CASES = "[stock]"


def has_torch(python):
    command = [python, "-c", "import torch, numpy"]
    return subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode == 0


def find_python(configured, source):
    candidates = [os.environ.get("MASE_PYTHON", ""), configured, str(source / ".venv/bin/python")]
    return next((c for c in candidates if c and shutil.which(c) and has_torch(c)), None)


def check(arguments, python, folder):
    environment = dict(os.environ, MASE_STOCK_FOLDER=folder, OMP_NUM_THREADS="1")
    subprocess.run([arguments.tests, TEST_CASES], env=environment, check=True)
    script = pathlib.Path(__file__).with_name("check_stock.py")
    return subprocess.run([python, "-B", script, folder], check=False).returncode


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tests", required=True, help="the program test_torch")
    parser.add_argument("--source", required=True, type=pathlib.Path)
    parser.add_argument("--build", required=True, help="where the cases are written")
    parser.add_argument("--python", default="", help="an interpreter with torch and numpy")
    arguments = parser.parse_args()
    python = find_python(arguments.python, arguments.source)
    if python is None:
        print("skipped: no Python with torch and numpy; name one in MASE_PYTHON")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="stock_", dir=arguments.build) as folder:
        return check(arguments, python, folder)


sys.exit(main())
