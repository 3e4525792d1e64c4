#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Commands on another device than the CPU: what they print and write is what they do on the CPU.

usage: device_test.py --mase BINARY --source ROOT --pretend LIBRARY [unittest arguments]

The cases run on a device that exists in tests only (tests/pretend_device), which computes with the kernels of the CPU
and whose memory crashes whoever reads it from outside; and on the first accelerator of LibTorch, where there is one.
"""

import argparse
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

MASE = SOURCE = PRETEND = None

# An accelerator sums in another order: products of at most 1000 terms near 1 differ by some 1000 * 2^-24.
TOLERANCE = 1e-4


def read_floats(path):
    data = Path(path).read_bytes()
    begin = 10 + struct.unpack("<H", data[8:10])[0]
    assert b"'<f4'" in data[:begin], data[:begin]
    return struct.unpack(f"<{(len(data) - begin) // 4}f", data[begin:])


def first_accelerator():
    """What `mase doctor` lists besides the CPU without any pretence."""
    parts = json.loads(subprocess.run([MASE, "doctor", "--json"], capture_output=True, check=True).stdout)["parts"]
    devices = next(part for part in parts if part["part"] == "LibTorch")["details"]["devices"].split(", ")
    return devices[1] if len(devices) > 1 else None


class OnDevice:
    """The cases, for subclasses that say which device."""

    environment = os.environ
    device = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def mase(self, *words, code=0, **more):
        command = [MASE, *map(str, words)]
        done = subprocess.run(
            command, cwd=self.folder, env={**self.environment, **more}, capture_output=True, text=True, timeout=600
        )
        self.assertEqual(done.returncode, code, f"{command}\n{done.stdout}{done.stderr}")
        return done.stderr if code else done.stdout

    def check_close(self, mine, theirs):
        self.assertEqual(len(mine), len(theirs))
        worst = max(abs(a - b) for a, b in zip(mine, theirs, strict=True))
        self.assertLessEqual(worst, TOLERANCE * max(1, *map(abs, theirs)))

    def run_model(self, model, folder, *words):
        """The results of a fixture on the device and on the CPU."""
        inputs = [w for file in sorted(folder.glob("input*.npy")) for w in ("--input", file)]
        for name, device in (("there", self.device), ("here", "cpu")):
            self.mase("run", model, *inputs, "--output", f"{name}.npy", "--device", device, *words)
        names = sorted(file.name[5:] for file in self.folder.glob("there*.npy"))
        self.assertTrue(names)
        return [[read_floats(self.folder / (place + name)) for name in names] for place in ("there", "here")]

    def test_models_of_every_kind(self):
        """Convolutions, attention, embeddings, gathered rows, several inputs and results."""
        for name in ("lenet", "resnet8", "unet_tiny", "vit_tiny", "bert_tiny", "two_inputs", "dict_output"):
            with self.subTest(name):
                folder = SOURCE / "tests/fixtures/models" / name
                there, here = self.run_model(min(folder.glob("*.pt")), folder, "--level", "float")
                for mine, theirs in zip(there, here, strict=True):
                    self.check_close(mine, theirs)

    def test_scores(self):
        words = ("test", "jsc-tiny", "jsc", "--json", "--level", "float")
        there, here = (json.loads(self.mase(*words, "--device", name))["scores"] for name in (self.device, "cpu"))
        self.assertEqual(there["accuracy"], here["accuracy"])
        self.assertAlmostEqual(there["loss"], here["loss"], delta=TOLERANCE)

    def test_missing_device(self):
        error = self.mase(
            "run", "lenet", "--input-shape", "1,1,28,28", "--output", "y.npy", "--device", "cuda:99", code=2
        )
        self.assertIn("cuda:99", error)
        self.assertIn("here are cpu", error)
        self.assertIn(self.device, error)

    def test_names(self):
        run = ("run", "lenet", "--input-shape", "1,1,28,28", "--output", "y.npy", "--device")
        for wrong in ("cuda:", "CUDA", "cuda:x", "cpu:0", "auto:1", ""):
            self.assertIn("is not the name of a device", self.mase(*run, wrong, code=2))
        self.assertIn("has no such kind", self.mase(*run, "cudda", code=2))
        (self.folder / "c.toml").write_text("device = 3\n")
        self.assertIn("device", self.mase("test", "lenet", "mnist", "--config", "c.toml", code=2))


class PretendDevice(OnDevice, unittest.TestCase):
    device = "privateuseone:1"

    @property
    def environment(self):
        return {**os.environ, "LD_PRELOAD": str(PRETEND)}

    def test_out_of_memory(self):
        words = ("run", "lenet", "--input-shape", "64,1,28,28", "--output", "y.npy", "--device", self.device)
        error = self.mase(*words, code=3, PRETEND_DEVICE_BYTES="1000000")
        self.assertIn("out of memory", error)
        self.assertIn("node '", error)
        self.assertIn("a smaller batch", error)
        self.assertIn("tensor '", self.mase(*words, code=3, PRETEND_DEVICE_BYTES="1000"))

    def test_auto(self):
        words = ("run", "lenet", "--input-shape", "1,1,28,28", "--output", "y.npy", "--device", "auto")
        done = subprocess.run(
            [MASE, *words], cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=600
        )
        self.assertIn("device auto is privateuseone:0", done.stdout + done.stderr)
        without = subprocess.run([MASE, *words], cwd=self.folder, capture_output=True, text=True, timeout=600)
        self.assertEqual(without.returncode, 0, without.stderr)


class Accelerator(OnDevice, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.device = first_accelerator()
        if not cls.device:
            raise unittest.SkipTest("LibTorch finds no accelerator here")


def main():
    global MASE, SOURCE, PRETEND
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--mase", "--source", "--pretend"):
        parser.add_argument(name, required=True, type=lambda path: Path(path).resolve())
    args, rest = parser.parse_known_args()
    MASE, SOURCE, PRETEND = args.mase, args.source, args.pretend
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
