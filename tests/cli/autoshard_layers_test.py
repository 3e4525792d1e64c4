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
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

# A sum of float32 addends in another order moves results, which are below 10, by some units in the last place, 6e-8.
TOLERANCE = 1e-5


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


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--mase", required=True)
    parser.add_argument("--source", required=True)
    arguments, names = parser.parse_known_args()
    program_cases.program = arguments.mase
    unittest.main(argv=[sys.argv[0], *names], warnings="ignore")
