#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exported programs (.pt2): the graph is that of the TorchScript of the same network, and `mase run` gives the same
bits. Networks made by the PyTorch that runs this test cover what the files of tests/fixtures do not have.

usage: exported_program_test.py --mase BINARY --source ROOT [CASE ...]; exits with 77 where torch is missing
"""

import argparse
import re
import subprocess
import sys
import tempfile
import unittest
import warnings
from pathlib import Path

try:
    import numpy as np
    import torch
    from torch import nn
    from torch.nn import functional as F
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

MASE = SOURCE = None
FIXTURES = ("encoder_tiny", "jsc_s", "jsc_tiny", "lenet")


def mase_result(*words):
    return subprocess.run([MASE, *map(str, words)], capture_output=True, text=True, timeout=300)


def mase(*words):
    done = mase_result(*words)
    if done.returncode != 0:
        raise AssertionError(f"mase {' '.join(map(str, words))}: {done.stdout}{done.stderr}")
    return done.stdout


def modules_of(text):
    """Containers, layers and tensors. A strict export has the tensors in the order of their use."""
    return sorted(line for line in text if re.match("  (container|module|tensor) ", line))


def graph_of(model, *words):
    """The text of a graph. An exported program computes every size of an input once, and knows others as numbers; its
    guards say which sizes the export has fixed."""
    lines = []
    for line in mase("show", model, *words).splitlines():
        if line.startswith("  guard") or re.match(r"  %size(_\d+)? :", line):
            continue
        lines.append(re.sub(r"size=\[.*?\]", "size=[...]", line))
    return lines


class Cases(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def outputs_of(self, model, arrays):
        for old in self.folder.glob("y*.npy"):
            old.unlink()
        words = []
        for i, array in enumerate(arrays):
            np.save(self.folder / f"x{i}.npy", array)
            words += ["--input", self.folder / f"x{i}.npy"]
        said = mase("run", model, *words, "--output", self.folder / "y.npy")
        files = [line.split(":")[0] for line in said.splitlines()]
        return [np.load(file) for file in files if file.endswith(".npy")]

    def compare(self, one, other):
        self.assertEqual([array.shape for array in one], [array.shape for array in other])
        for i, (left, right) in enumerate(zip(one, other)):
            np.testing.assert_array_equal(left, right, err_msg=f"output {i}")


class Fixtures(Cases):
    def test_graph_is_that_of_torchscript(self):
        for name in FIXTURES:
            folder = SOURCE / "tests/fixtures/models" / name
            for path in sorted(folder.glob("*.pt2")):
                with self.subTest(path.name):
                    words = ("--input", folder / "inputs.npy")
                    self.assertEqual(graph_of(path, *words), graph_of(folder / f"{name}.script.pt", *words))

    def test_bits(self):
        for name in FIXTURES:
            folder = SOURCE / "tests/fixtures/models" / name
            arrays = [np.load(folder / "inputs.npy")]
            for path in sorted(folder.glob("*.pt2")):
                with self.subTest(path.name):
                    self.compare(self.outputs_of(path, arrays), self.outputs_of(folder / f"{name}.script.pt", arrays))

    def test_batch(self):
        folder = SOURCE / "tests/fixtures/models/jsc_tiny"
        array = np.concatenate([np.load(folder / "inputs.npy")] * 2)
        found = self.outputs_of(folder / "jsc_tiny.pt2", [array])
        self.assertEqual(found[0].shape[0], 8)
        np.save(self.folder / "x.npy", array)
        words = ("--input", self.folder / "x.npy", "--output", self.folder / "y.npy")
        refused = mase_result("run", folder / "jsc_tiny.static.pt2", *words)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("was exported for [4, 16]; torch.export.export has dynamic_shapes", refused.stderr)


class Subscripts(nn.Module):
    def forward(self, x):
        first, rest = x[:, 0], x[:, 1:, ::2]
        parts = F.softmax(rest, dim=-1).chunk(2, dim=1)
        return {"first": first @ first.t(), "parts": torch.cat(parts, -1), "new": x[:, None, -1] ** 2}


class Blocks(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Sequential(nn.Linear(6, 6), nn.LayerNorm(6), nn.Dropout(0.1)) for _ in range(2))
        self.same = nn.Linear(6, 6)
        self.scale = nn.Parameter(torch.tensor([0.5]))
        self.register_buffer("shift", torch.arange(6.0))

    def forward(self, x):
        for layer in self.layers:
            x = x + F.gelu(layer(x))
        x = self.same(self.same(x)) * self.scale + self.shift
        return x.view(x.size(0), -1), (x / 2).mean(dim=1)


def networks():
    generator = torch.Generator().manual_seed(1)

    def normal(*shape):
        return torch.randn(*shape, generator=generator)

    return {"subscripts": (Subscripts(), (normal(3, 5, 6),)), "blocks": (Blocks(), (normal(3, 4, 6),))}


class Networks(Cases):
    def exported(self, network, inputs, strict=False):
        batch = torch.export.Dim("batch", min=2, max=64)
        path = self.folder / f"strict_{strict}.pt2"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            shapes = tuple({0: batch} for _ in inputs)
            program = torch.export.export(network.eval(), inputs, dynamic_shapes=shapes, strict=strict)
            torch.export.save(program, path)
        return path

    def test_bits_and_layers(self):
        for name, (network, inputs) in networks().items():
            scripted = self.folder / "network.pt"
            torch.jit.script(network.eval()).save(str(scripted))
            arrays = [one.numpy() for one in inputs]
            wanted = self.outputs_of(scripted, arrays)
            words = ("--input-shape", ",".join(map(str, arrays[0].shape)))
            layers = modules_of(graph_of(scripted, *words))
            for strict in (False, True):
                with self.subTest(name, strict=strict):
                    path = self.exported(network, inputs, strict)
                    self.compare(self.outputs_of(path, arrays), wanted)
                    self.assertEqual(modules_of(graph_of(path)), layers)
                    taller = [np.concatenate([array, array[:1]]) for array in arrays]
                    self.compare(self.outputs_of(path, taller), self.outputs_of(scripted, taller))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--mase", required=True)
    parser.add_argument("--source", type=Path, required=True)
    options, names = parser.parse_known_args()
    MASE, SOURCE = options.mase, options.source
    unittest.main(argv=[sys.argv[0], *names], warnings="ignore")
