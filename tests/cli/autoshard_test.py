#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Layouts of autoshard, run by several processes, give the results of the whole model.

usage: autoshard_test.py --mase BINARY --source ROOT
"""

import argparse
import json
import sys
import unittest
from pathlib import Path

import numpy as np
import program_cases
from program_cases import Cases, mase, mase_result

MODELS = None
MESHES = ([1, 2], [2, 1], [2, 2], [1, 4])
# A sum of float32 addends in another order moves each layer's results by some units in the last place, 6e-8 of their
# size. Results here are below 10, after fewer than 30 layers.
TOLERANCE = 2e-5


class Autoshard(Cases):
    def transform(self, model, inputs, **options):
        """The checkpoint with layouts, and what the pass has found."""
        config = self.folder / "shard.toml"
        lines = [f"{name} = {json.dumps(value)}" for name, value in options.items()]
        config.write_text("[passes.autoshard]\n" + "\n".join(lines) + "\n")
        words = ["--project-dir", self.folder, "--project", "p", "--overwrite", "--json", *self.input_words(inputs)]
        document = json.loads(mase("transform", "--model", model, "--config", config, *words))
        report = document["passes"][0]["info"]
        return self.folder / "p/software/transform/transformed_ckpt/graph_module.pt", report

    def check(self, model, inputs, expected):
        for mesh in MESHES:
            for split_batch in (True, False):
                with self.subTest(model=str(model), mesh=mesh, split_batch=split_batch):
                    # A slow device, so that every device has work.
                    checkpoint, report = self.transform(
                        model, inputs, mesh_shape=mesh, split_batch=split_batch, device_flops=1e8
                    )
                    self.assertLess(report["seconds"], report["one_device_seconds"] * 0.8)
                    count = str(mesh[0] * mesh[1])
                    found = self.outputs_of(checkpoint, inputs, "--level", "float", "--nproc", count)
                    for mine, theirs in zip(found, expected, strict=True):
                        np.testing.assert_allclose(mine, theirs, atol=TOLERANCE, rtol=0)

    def test_bert(self):
        """The expected results are those of stock PyTorch."""
        folder = MODELS / "bert_tiny"
        inputs = [np.load(folder / f"input_{i}.npy") for i in range(2)]
        self.check(folder / "bert_tiny.trace.pt", inputs, [np.load(folder / "output_0.npy")])

    def test_vit(self):
        folder = MODELS / "vit_tiny"
        self.check(folder / "vit_tiny.trace.pt", [np.load(folder / "inputs.npy")], [np.load(folder / "outputs.npy")])

    def test_llama(self):
        tokens = np.random.default_rng(0).integers(0, 256, (2, 64))
        self.check("llama-tiny", [tokens], self.outputs_of("llama-tiny", [tokens], "--level", "float"))

    def check_stages(self, model, inputs, expected):
        for mesh, stages in (([1, 2], 2), ([2, 2], 2), ([1, 4], 4)):
            with self.subTest(model=str(model), mesh=mesh, stages=stages):
                checkpoint, report = self.transform(
                    model, inputs, mesh_shape=mesh, stages=stages, device_flops=1e8, micro_batches=100
                )
                # The slowest of N stages takes at least an N-th of the work, and all but a few micro-batches overlap.
                self.assertEqual(len(report["stages"]), stages)
                self.assertLess(report["seconds"], report["one_device_seconds"] * 100 * 0.9)
                slowest = max(stage["seconds"] for stage in report["stages"])
                total = sum(stage["seconds"] for stage in report["stages"])
                self.assertAlmostEqual(report["seconds"], total + 99 * slowest)
                self.check_metadata(checkpoint, report["stages"])
                count = str(mesh[0] * mesh[1])
                found = self.outputs_of(checkpoint, inputs, "--level", "float", "--nproc", count)
                for mine, theirs in zip(found, expected, strict=True):
                    np.testing.assert_allclose(mine, theirs, atol=TOLERANCE, rtol=0)

    def check_metadata(self, checkpoint, stages):
        """Stages follow each other in the order of the nodes, from the first node of each to its last one."""
        nodes = json.loads(mase("show", checkpoint, "--format", "json"))["nodes"]
        layouts = [(node["name"], node["metadata"]["software"].get("autosharding", {})) for node in nodes]
        ids = [(name, layout["device_id"]) for name, layout in layouts if "device_id" in layout]
        self.assertEqual([i for _, i in ids], sorted(i for _, i in ids))
        for i, stage in enumerate(stages):
            mine = [name for name, at in ids if at == i]
            self.assertEqual((mine[0], mine[-1]), (stage["first_node"], stage["last_node"]))

    def test_bert_in_stages(self):
        folder = MODELS / "bert_tiny"
        inputs = [np.load(folder / f"input_{i}.npy") for i in range(2)]
        self.check_stages(folder / "bert_tiny.trace.pt", inputs, [np.load(folder / "output_0.npy")])

    def test_vit_in_stages(self):
        folder = MODELS / "vit_tiny"
        inputs, expected = [np.load(folder / "inputs.npy")], [np.load(folder / "outputs.npy")]
        self.check_stages(folder / "vit_tiny.trace.pt", inputs, expected)

    def test_llama_in_stages(self):
        tokens = np.random.default_rng(0).integers(0, 256, (2, 64))
        self.check_stages("llama-tiny", [tokens], self.outputs_of("llama-tiny", [tokens], "--level", "float"))

    def test_little_memory(self):
        """With memory for a third of the weights they are split, whatever that costs."""
        folder = MODELS / "bert_tiny"
        inputs = [np.load(folder / f"input_{i}.npy") for i in range(2)]
        checkpoint, report = self.transform(
            folder / "bert_tiny.trace.pt", inputs, mesh_shape=[1, 4], device_memory=240000
        )
        self.assertLessEqual(report["bytes_per_device"], 240000)
        found = self.outputs_of(checkpoint, inputs, "--level", "float", "--nproc", "4")
        np.testing.assert_allclose(found[0], np.load(folder / "output_0.npy"), atol=TOLERANCE, rtol=0)

    def test_refusals_of_stages(self):
        inputs = [np.zeros((2, 64), np.int64)]
        checkpoint, _ = self.transform("llama-tiny", inputs, mesh_shape=[2, 2], stages=2)
        words = ["--output", self.folder / "z.npy", "--level", "float", "--nproc", "2"]
        done = mase_result("run", checkpoint, *self.input_words(inputs), *words)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(
            "2 stages, each on a mesh of 1 x 2 devices, but 2 processes run; start 4", done.stdout + done.stderr
        )

    def test_refusals(self):
        inputs = [np.zeros((2, 64), np.int64)]
        checkpoint, _ = self.transform("llama-tiny", inputs, mesh_shape=[1, 2])
        words = ["run", checkpoint, *self.input_words(inputs), "--output", self.folder / "z.npy"]
        shown = mase("show", checkpoint, "--format", "json")
        self.assertIn('"autosharding"', shown)
        for more, message in (
            (["--level", "float", "--nproc", "3"], "a mesh of 1 x 2 devices, but 3 processes"),
            (["--nproc", "2"], "add --level float"),
        ):
            done = mase_result(*words, *more)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(message, done.stdout + done.stderr)
        done = mase_result("run", "llama-tiny", *words[2:], "--level", "float", "--nproc", "2")
        self.assertIn("has no layouts", done.stdout + done.stderr)
        done = mase_result(
            "run", checkpoint, *self.input_words([np.zeros((3, 64), np.int64)]), *words[-2:], "--level", "float",
            "--nproc", "2",
        )  # fmt: skip
        self.assertIn("run the pass autoshard", done.stdout + done.stderr)
        self.assertFalse((self.folder / "z.npy").exists())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mase", required=True)
    parser.add_argument("--source", type=Path, required=True)
    args, rest = parser.parse_known_args()
    program_cases.program = args.mase
    MODELS = args.source / "tests/fixtures/models"
    unittest.main(argv=[sys.argv[0], *rest])
