#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports to ONNX: onnx.checker accepts them, ONNX Runtime computes what `mase run` does, and an import gives the same
graph again.

usage: onnx_export_test.py --mase BINARY --source ROOT [CASE ...]; exits with 77 where onnx or onnxruntime is missing
"""

import argparse
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

try:
    import numpy as np
    import onnx
    import onnxruntime
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

MASE = SOURCE = None
# Sums of up to 4608 products are added in another order; the rounding of float32 is 6e-8.
FLOAT_TOLERANCE = 1e-5

FIXTURES = {
    "bert_tiny": "trace",
    "cnv_small": "script",
    "dict_output": "script",
    "dropout_mlp": "script",
    "functional_ops": "trace",
    "jsc_s": "script",
    "jsc_tiny": "script",
    "lenet": "script",
    "mobile_tiny": "script",
    "resnet8": "script",
    "shared_module": "script",
    "toy": "script",
    "two_inputs": "trace",
    "unet_tiny": "script",
    "vit_tiny": "script",
}
REGISTRY = {
    "jsc-toy": (16,),
    "lenet": (1, 28, 28),
    "lfc": (1, 28, 28),
    "cnv": (3, 32, 32),
    "vit-tiny": (1, 28, 28),
    "transformer-jets": (16,),
    "bert-tiny": (32,),
    "llama-tiny": (64,),
}
TOKENS = {"bert-tiny", "llama-tiny"}


def mase(*words):
    done = subprocess.run([MASE, *map(str, words)], capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise AssertionError(f"mase {' '.join(map(str, words))}: {done.stdout}{done.stderr}")
    return done.stdout


def runtime_outputs(path, arrays):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    inputs = session.get_inputs()
    assert len(inputs) == len(arrays)
    return session.run(None, {one.name: array for one, array in zip(inputs, arrays)})


class Exports(unittest.TestCase):
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

    def convert(self, model, arrays, *options):
        path = self.folder / "model.onnx"
        mase("convert", model, path, "--overwrite", *self.input_words(arrays), *options)
        onnx.checker.check_model(onnx.load(path), full_check=True)
        return path

    def outputs_of(self, model, arrays, level="float"):
        for old in self.folder.glob("y*.npy"):
            old.unlink()
        mase("run", model, *self.input_words(arrays), "--output", self.folder / "y.npy", "--level", level)
        return {file.stem: np.load(file) for file in self.folder.glob("y*.npy")}

    def compare(self, model, path, arrays):
        wanted = self.outputs_of(model, arrays)
        found = runtime_outputs(path, arrays)
        self.assertEqual(len(wanted), len(found))
        for one in wanted.values():
            scale = max(np.abs(one).max(), 1e-30)
            near = min(np.abs(one - other).max() for other in found if one.shape == other.shape)
            self.assertLessEqual(near / scale, FLOAT_TOLERANCE, f"{model}: shape {one.shape}")

    def check_round_trip(self, model, path, words=()):
        self.assertEqual(mase("show", model, *words), mase("show", path, *words), f"{model} is another graph")

    def check(self, model, arrays):
        path = self.convert(model, arrays)
        self.compare(model, path, arrays)
        self.compare(model, path, [np.concatenate([one, one[:1]]) for one in arrays])
        return path

    def test_fixtures(self):
        for name, kind in FIXTURES.items():
            folder = SOURCE / "tests/fixtures/models" / name
            arrays = [np.load(file) for file in sorted(folder.glob("input*.npy"))]
            with self.subTest(name):
                model = folder / f"{name}.{kind}.pt"
                self.check_round_trip(model, self.check(model, arrays), self.input_words(arrays))

    def test_built_in_models(self):
        draw = np.random.default_rng(1)
        for name, shape in REGISTRY.items():
            shape = (2, *shape)
            array = draw.integers(0, 250, shape) if name in TOKENS else draw.normal(size=shape).astype(np.float32)
            with self.subTest(name):
                self.check_round_trip(name, self.check(name, [array]))


def main():
    global MASE, SOURCE
    parser = argparse.ArgumentParser()
    parser.add_argument("--mase", required=True)
    parser.add_argument("--source", required=True, type=Path)
    parser.add_argument("cases", nargs="*")
    arguments = parser.parse_args()
    MASE, SOURCE = arguments.mase, arguments.source
    unittest.main(argv=[sys.argv[0], *arguments.cases])


if __name__ == "__main__":
    main()
