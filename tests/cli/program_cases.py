# SPDX-License-Identifier: Apache-2.0
"""Runs of `mase` on a model and arrays, for tests of files that it reads and writes. `program` is its path, which the
main part of a test sets."""

import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy as np

program = None


def mase_result(*words):
    return subprocess.run([program, *map(str, words)], capture_output=True, text=True, timeout=300)


def mase(*words):
    done = mase_result(*words)
    if done.returncode != 0:
        raise AssertionError(f"mase {' '.join(map(str, words))}: {done.stdout}{done.stderr}")
    return done.stdout


class Cases(unittest.TestCase):
    """Tests with a folder of their own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def input_words(self, arrays):
        words = []
        for i, array in enumerate(arrays):
            np.save(self.folder / f"x{i}.npy", array)
            words += ["--input", self.folder / f"x{i}.npy"]
        return words

    def outputs_of(self, model, arrays, *words):
        """The outputs in their order."""
        for old in self.folder.glob("y*.npy"):
            old.unlink()
        said = mase("run", model, *self.input_words(arrays), "--output", self.folder / "y.npy", *words)
        files = [line.split(":")[0] for line in said.splitlines()]
        return [np.load(file) for file in files if file.endswith(".npy")]
