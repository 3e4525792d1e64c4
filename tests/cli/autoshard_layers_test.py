#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Layers whose work autoshard shares: several processes compute what PyTorch computes in one.

usage: autoshard_layers_test.py --mase BINARY --source ROOT [CASE ...]; exits with 77 where torch is missing
"""

import argparse
import json
import sys
import unittest

try:
    import numpy as np
    import program_cases
    import torch
    from program_cases import Cases, mase, mase_result
    from torch import nn
    from torch.nn import functional as F
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

# A sum of float32 addends in another order moves results, which are below 10, by some units in the last place, 6e-8.
TOLERANCE = 1e-5


def normal(*shape):
    return np.random.default_rng(len(shape)).standard_normal(shape, np.float32)


class Called(nn.Module):
    """A function, and layers that it calls."""

    def __init__(self, function, *layers):
        super().__init__()
        self.function, self.layers = function, nn.ModuleList(layers)

    def forward(self, *inputs):
        return self.function(*self.layers, *inputs)


class Experts(nn.Module):
    """Every expert computes every row, and the two best ones of a row are added."""

    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(8, 4)
        self.up = nn.Parameter(torch.randn(4, 8, 16) / 4)
        self.down = nn.Parameter(torch.randn(4, 16, 8) / 4)

    def forward(self, x):
        shares = self.gate(x).softmax(-1)
        top, at = shares.topk(2, -1)
        shares = torch.zeros_like(shares).scatter(-1, at, top / top.sum(-1, keepdim=True))
        inner = torch.einsum("btd,ndh->nbth", x, self.up).relu()
        return torch.einsum("nbth,nhd,btn->btd", inner, self.down, shares)


class SkippingNetwork(nn.Module):
    """A U-Net of two levels with group norms."""

    def __init__(self):
        super().__init__()
        self.down, self.inner = nn.Conv2d(4, 8, 3, padding=1), nn.Conv2d(8, 8, 3, padding=1)
        self.norm, self.up = nn.GroupNorm(4, 8), nn.ConvTranspose2d(8, 8, 2, stride=2)
        self.last = nn.Conv2d(16, 2, 1)

    def forward(self, x):
        skipped = F.silu(self.norm(self.down(x)))
        inner = F.silu(self.inner(F.max_pool2d(skipped, 2)))
        return self.last(torch.cat([self.up(inner), skipped], 1))


class Layers(Cases):
    def shard(self, network, inputs, **options):
        """What the pass says, and the checkpoint with layouts. A slow device has work for every device."""
        torch.jit.trace(network, tuple(map(torch.from_numpy, inputs))).save(self.folder / "network.pt")
        config = self.folder / "shard.toml"
        options = {"device_flops": 1e3, "intra_node_latency": 0.0, "inter_node_latency": 0.0} | options
        lines = [f"{name} = {json.dumps(value)}" for name, value in options.items()]
        config.write_text("[passes.autoshard]\n" + "\n".join(lines) + "\n")
        document = json.loads(
            mase("transform", "--model", self.folder / "network.pt", "--config", config, "--json", "--overwrite",
                 "--project-dir", self.folder, "--project", "p", *self.input_words(inputs))
        )  # fmt: skip
        return document["passes"][0]["info"], self.folder / "p/software/transform/transformed_ckpt/graph_module.pt"

    def check(self, network, inputs, mesh, layouts, tolerance=TOLERANCE, **options):
        """The layouts of ops as they are computed, and the results of as many processes as the mesh has devices."""
        info, checkpoint = self.shard(network.eval(), inputs, mesh_shape=mesh, **options)
        found = {node["op"]: node["layout"] for node in info["nodes"]}
        self.assertEqual({op: found.get(op) for op in layouts}, layouts)
        devices = str(mesh[0] * mesh[1])
        results = self.outputs_of(checkpoint, inputs, "--level", "float", "--nproc", devices)
        with torch.no_grad():
            expected = network(*map(torch.from_numpy, inputs))
        expected = expected if isinstance(expected, tuple) else (expected,)
        for mine, theirs in zip(results, expected, strict=True):
            np.testing.assert_allclose(mine, theirs.numpy(), atol=tolerance, rtol=0)
        return info, results, [one.numpy() for one in expected]

    def test_rows_of_a_table(self):
        """With memory for some rows alone, each device has zeros for the ids of the others. A lookup stays exact, and
        so do negative zeros."""
        torch.manual_seed(0)
        network = nn.Embedding(12, 5)
        with torch.no_grad():
            network.weight[3], network.weight[4] = -0.0, float("inf")
        ids = np.arange(24).reshape(2, 12) % 12
        for mesh, layout, rows in (([1, 2], "[R, R, R] sum 1", 6), ([2, 2], "[R, R, R] sum 01", 3)):
            with self.subTest(mesh=mesh):
                info, mine, theirs = self.check(network, [ids], mesh, {"embedding": layout}, device_memory=rows * 20)
                self.assertEqual(info["bytes_per_device"], rows * 20)
                self.assertEqual(mine[0].tobytes(), theirs[0].tobytes())

    def test_ids_outside_of_a_table(self):
        info, checkpoint = self.shard(nn.Embedding(12, 5), [np.zeros(4, np.int64)], device_memory=120)
        self.assertEqual(info["bytes_per_device"], 120)
        for wrong in (-1, 12):
            words = self.input_words([np.array([0, 11, 5, wrong])])
            done = mase_result(
                "run", checkpoint, *words, "--output", self.folder / "y.npy", "--level", "float", "--nproc", "2"
            )
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("index out of range", done.stdout + done.stderr)

    def test_groups_of_channels(self):
        """A mesh of 2 x 2 splits 4 groups over all devices, and 2 groups over one axis alone."""
        torch.manual_seed(0)
        for layer, op, by_both in (
            (nn.Conv2d(8, 8, 3, padding=1, groups=4), "conv2d", True),
            (nn.Conv2d(8, 16, 3, groups=8), "conv2d", True),
            (nn.Conv1d(8, 8, 3, groups=2), "conv1d", False),
            (nn.ConvTranspose2d(8, 12, 2, stride=2, groups=4), "convtranspose2d", True),
            (nn.GroupNorm(4, 8), "group_norm", True),
        ):
            with self.subTest(layer=str(layer)):
                images = normal(1, 8, 6) if op == "conv1d" else normal(1, 8, 6, 6)
                info, _, _ = self.check(layer, [images], [2, 2], {})
                layout = next(node["layout"] for node in info["nodes"] if node["op"] == op)
                self.assertEqual("S_01" in layout, by_both)
                self.assertIn("S_", layout)

    def test_other_layers_of_images(self):
        torch.manual_seed(0)
        images = normal(1, 4, 6, 6)
        for layer, op in (
            (nn.ConvTranspose2d(4, 6, 3), "convtranspose2d"),
            (nn.InstanceNorm2d(4, affine=True), "instance_norm2d"),
            (nn.Upsample(scale_factor=2, mode="bilinear"), "upsample"),
        ):
            with self.subTest(layer=str(layer)):
                self.check(layer, [images], [1, 2], {op: "[R, S_1, R, R]"})
        # With little memory the inputs of the convolution are split, whose results are added.
        layer = nn.ConvTranspose2d(4, 5, 3)
        self.check(layer, [images], [1, 2], {"convtranspose2d": "[R, R, R, R] sum 1"}, device_memory=400)

    def test_einsum(self):
        a, b = normal(2, 3, 8), normal(2, 5, 8)
        for equation, inputs, layout in (
            ("bij,bkj->bik", [a, b], "[S_1, R, R]"),
            ("bij,bkj->ki", [a, b], "[R, R] sum 1"),
            ("...j,kj", [a, normal(4, 8)], "[S_1, R, R]"),
            ("ij,j", [normal(3, 8), normal(1)], "[R] sum 1"),
        ):
            with self.subTest(equation=equation):
                network = Called(lambda *x, equation=equation: torch.einsum(equation, *x))
                self.check(network, inputs, [1, 2], {"einsum": layout})

    def test_attention(self):
        """Heads and batch; of grouped queries the heads of keys, which are fewer."""
        q, k, v = normal(2, 4, 5, 8), normal(2, 4, 5, 8), normal(2, 4, 5, 8)
        causal = Called(lambda *x: F.scaled_dot_product_attention(*x, is_causal=True))
        self.check(causal, [q, k, v], [2, 2], {"grouped_query_attention": "[S_0, S_1, R, R]"})
        grouped = Called(lambda *x: F.scaled_dot_product_attention(*x, enable_gqa=True))
        options = {"split_batch": False, "device_flops": 1e2}
        self.check(grouped, [q, k[:, :2], v[:, :2]], [1, 2], {"grouped_query_attention": "[R, S_1, R, R]"}, **options)

    def test_recurrent_layers(self):
        """Sequences share the work; states have the batch in another dimension than sequences with batch_first."""
        torch.manual_seed(0)
        x, states = normal(4, 6, 8), [normal(4, 4, 6), normal(4, 4, 6) + 1]

        def lstm(layer, x):
            y, (h, c) = layer(x)
            return y, h[-1], c

        def given(layer, x, h, c):
            return layer(x, (h, c))[1]

        def cells(one, two, x):
            h, c = one(x)
            return two(h, c), c

        for network, inputs, layouts in (
            (Called(lstm, nn.LSTM(8, 6, batch_first=True)), [x], {"lstm": "[S_1, R, R]"}),
            (Called(lstm, nn.LSTM(8, 6, 2, bidirectional=True)), [x], {"lstm": "[R, S_1, R]"}),
            (Called(given, nn.LSTM(8, 6, 2, bidirectional=True, batch_first=True)), [x, *states],
             {"lstm": "[S_1, R, R]"}),
            (Called(lambda layer, x: layer(x), nn.GRU(8, 6, batch_first=True)), [x], {"gru": "[S_1, R, R]"}),
            (Called(lambda layer, x: layer(x)[1], nn.RNN(8, 6)), [x], {"rnn": "[R, S_1, R]"}),
            (Called(cells, nn.LSTMCell(8, 6), nn.GRUCell(6, 6)), [normal(4, 8)],
             {"lstm_cell": "[S_1, R]", "gru_cell": "[S_1, R]"}),
        ):  # fmt: skip
            with self.subTest(layers=str(network.layers)):
                self.check(network, inputs, [1, 2], layouts)

    def test_networks(self):
        """Layouts on four devices, and stages of two devices each."""
        torch.manual_seed(0)
        for network, shape in ((Experts(), (2, 4, 8)), (SkippingNetwork(), (2, 4, 8, 8))):
            for options in ({}, {"stages": 2, "split_batch": False}):
                with self.subTest(network=type(network).__name__, options=options):
                    self.check(network, [normal(*shape)], [2, 2], {}, **options)

    def test_items_of_different_sizes(self):
        """A list is split only where all of its tensors can be, and an item of a list with a single row is whole."""
        network = Called(lambda x: tuple(torch.sin(part) for part in x.split([1, 4, 3])))
        self.check(network, [normal(8, 6)], [1, 2], {})
        network = Called(lambda x: tuple(torch.sin(part) for part in x.split([1, 4])))
        self.check(network, [normal(5, 3)], [1, 2], {})


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--mase", required=True)
    parser.add_argument("--source", required=True)
    arguments, names = parser.parse_known_args()
    program_cases.program = arguments.mase
    unittest.main(argv=[sys.argv[0], *names], warnings="ignore")
