#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checkpoints of passes that only found something out about a folder of transformers: they refer to its weights.

usage: linked_checkpoint_test.py --mase BINARY --source ROOT [unittest arguments]
"""

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

MASE = BERT = None
ANALYSIS = "[passes.flops]\n"
QUANTIZATION = """[passes.quantize]
by = "type"
report = false
[passes.quantize.default.config]
name = "integer"
data_in_width = 8
data_in_frac_width = 4
weight_width = 8
weight_frac_width = 6
bias_width = 8
bias_frac_width = 6
"""
TRANSFORMED = "projects/p/software/transform/transformed_ckpt"


class Linked(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.cwd = Path(folder.name)
        self.source = self.cwd / "bert"
        shutil.copytree(BERT, self.source)
        self.project = self.cwd / "projects/p"
        self.checkpoint = self.cwd / TRANSFORMED / "graph_module"

    def mase(self, *words, code=0):
        done = subprocess.run([MASE, *map(str, words)], cwd=self.cwd, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, code, f"{words}\n{done.stdout}\n{done.stderr}")
        return done.stdout if code == 0 else done.stderr

    def transform(self, model, passes=ANALYSIS, *words):
        (self.cwd / "passes.toml").write_text(passes)
        where = ("--project-dir", self.cwd / "projects", "--project", "p", "--overwrite", "--json")
        return json.loads(self.mase("transform", "--model", model, "--config", "passes.toml", *where, *words))

    def results(self, model):
        inputs = [word for name in ("input_ids", "attention_mask") for word in ("--input", BERT / f"{name}.npy")]
        self.mase("run", model, *inputs, "--output", "y.npy", "--overwrite")
        return [(self.cwd / f"y_{i}.npy").read_bytes() for i in range(2)]

    def names(self):
        return sorted(path.name for path in self.checkpoint.parent.rglob("*"))

    def test_weights_are_not_repeated(self):
        document = self.transform("bert")
        self.assertEqual(Path(document["checkpoint"]), self.checkpoint)
        self.assertNotIn("graph_module.pt", self.names())
        self.assertNotIn("model.safetensors", self.names())
        self.assertEqual(json.loads((self.checkpoint / "links.json").read_text()), {"weights": str(self.source)})
        wanted = self.results("bert")
        self.assertEqual(self.results(self.project), wanted)
        self.assertEqual(self.results(self.checkpoint), wanted)
        nodes = json.loads(self.mase("show", self.project, "--format", "json"))["nodes"]
        self.assertTrue(all("metadata" in node for node in nodes))

    def test_it_is_a_model_like_any_other(self):
        self.transform("bert")
        wanted = self.results("bert")
        self.mase("convert", self.project, "whole/")
        self.mase("convert", self.project, "all.safetensors")
        self.assertEqual((self.cwd / "whole/model.safetensors").read_bytes(),
                         (self.source / "model.safetensors").read_bytes())  # fmt: skip
        again = self.transform(self.project, ANALYSIS + "[passes.report_graph]\n")
        self.assertEqual(Path(again["checkpoint"]), self.checkpoint)
        self.assertEqual(json.loads((self.checkpoint / "links.json").read_text()), {"weights": str(self.source)})
        self.assertEqual(self.results(self.project), wanted)
        self.transform("bert", QUANTIZATION, "--load", self.project)
        quantized = self.results(self.project)
        self.transform("bert", QUANTIZATION)
        self.assertEqual(self.results(self.project), quantized)
        shutil.rmtree(self.source)
        self.assertEqual(self.results("whole"), wanted)

    def test_passes_that_change_something_write_all(self):
        self.transform("bert")
        self.transform("bert", ANALYSIS + QUANTIZATION)
        self.assertIn("graph_module.pt", self.names())
        self.assertFalse(self.checkpoint.exists())
        self.transform("bert")
        self.assertNotIn("graph_module.pt", self.names())

    def test_weights_from_elsewhere_are_written(self):
        """Even from another file of the same folder."""
        data = bytearray((BERT / "model.safetensors").read_bytes())
        data[-1] ^= 0x40
        other = self.source / "other.safetensors"
        other.write_bytes(data)
        document = self.transform("bert", ANALYSIS, "--load", other)
        self.assertTrue(document["checkpoint"].endswith("graph_module.pt"))
        self.mase("convert", self.project, "back.safetensors")
        self.assertIn(bytes(data[-64:]), (self.cwd / "back.safetensors").read_bytes())

    def test_weights_that_changed_or_went_are_told(self):
        self.transform("bert")
        path, before = self.source / "model.safetensors", (BERT / "model.safetensors").read_bytes()
        path.write_bytes(before[:-1] + bytes([before[-1] ^ 1]))
        words = ["run", self.project, "--output", "y.npy"]
        for name in ("input_ids", "attention_mask"):
            words += ["--input", BERT / f"{name}.npy"]
        self.assertIn("has changed since", self.mase(*words, code=3))
        path.write_bytes(before)
        self.mase(*words, "--overwrite")
        self.source.rename(self.cwd / "moved")
        refused = self.mase(*words, code=3)
        self.assertIn(str(self.source), refused)
        self.assertIn("put it back", refused)
        self.mase("show", "moved")
        (self.cwd / "moved").rename(self.source)
        (self.checkpoint / "links.json").write_text("[]")
        self.assertIn("links.json", self.mase(*words, code=3))

    def test_a_folder_that_the_checkpoint_does_not_know_gives_nothing(self):
        """Whoever writes links.json must know the weights, or their hashes refuse them."""
        self.transform("bert")
        secret = self.cwd / "secret"
        shutil.copytree(self.source, secret)
        data = (secret / "model.safetensors").read_bytes()
        length = 8 + int.from_bytes(data[:8], "little")
        (secret / "model.safetensors").write_bytes(data[:length] + data[length:][::-1])
        (self.checkpoint / "links.json").write_text(json.dumps({"weights": str(secret)}))
        self.assertIn("has changed since", self.mase("convert", self.project, "out.safetensors", code=3))
        self.assertFalse((self.cwd / "out.safetensors").exists())
        self.assertIn("has changed since", self.mase("convert", self.project, "out/", code=3))

    def test_a_run_that_is_killed_leaves_what_was_there(self):
        self.transform("bert", QUANTIZATION)
        quantized = self.results(self.project)
        (self.cwd / "passes.toml").write_text(ANALYSIS)
        limit = 20000  # bytes: the report is smaller, mase.json is larger

        def limited():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        words = ["transform", "--model", "bert", "--config", "passes.toml", "--project-dir", "projects"]
        killed = subprocess.run(
            [MASE, *words, "--project", "p", "--overwrite", "-q"], cwd=self.cwd, preexec_fn=limited, capture_output=True
        )
        self.assertNotEqual(killed.returncode, 0)
        self.assertEqual(self.results(self.project), quantized)
        self.transform("bert")
        self.assertEqual(self.results(self.project), self.results("bert"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--mase", required=True)
    parser.add_argument("--source", required=True)
    known, rest = parser.parse_known_args()
    MASE = str(Path(known.mase).resolve())
    BERT = Path(known.source).resolve() / "tests/fixtures/huggingface/bert"
    unittest.main(argv=[sys.argv[0], *rest])
