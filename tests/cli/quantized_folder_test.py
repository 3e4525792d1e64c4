#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Folders of transformers with safetensors in several files, read and written by the program. This test has its own
reader and writer of such files, and needs Python alone.

usage: quantized_folder_test.py --mase BINARY --source ROOT [unittest arguments]
"""

import argparse
import json
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

MASE = BERT = None
NO_CHANGE = "[passes.summarize_quantization]\n"


def read_tensors(path):
    """(type, shape, bytes) of each tensor by its key."""
    data = Path(path).read_bytes()
    length = 8 + struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:length])
    header.pop("__metadata__", None)
    return {
        key: (
            entry["dtype"],
            entry["shape"],
            data[length + entry["data_offsets"][0] : length + entry["data_offsets"][1]],
        )
        for key, entry in header.items()
    }


def write_tensors(path, tensors):
    header, data = {}, b""
    for key, (dtype, shape, values) in tensors.items():
        header[key] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    Path(path).write_bytes(struct.pack("<Q", len(text)) + text + data)


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.cwd = Path(folder.name)

    def mase(self, *words, code=0):
        result = subprocess.run([MASE, *map(str, words)], cwd=self.cwd, capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, code, f"{words}\n{result.stdout}\n{result.stderr}")
        return result.stdout if code == 0 else result.stderr

    def write(self, name, text):
        (self.cwd / name).write_text(text)
        return self.cwd / name


class Shards(InFolder):
    """--load of weights in several files."""

    def setUp(self):
        super().setUp()
        tensors = read_tensors(BERT / "model.safetensors")
        self.changed = {key: (kind, shape, values[::-1]) for key, (kind, shape, values) in tensors.items()}
        keys, files = sorted(tensors), {}
        self.folder = self.cwd / "parts"
        self.folder.mkdir()
        for name, part in (("one.safetensors", keys[:20]), ("two.safetensors", keys[20:])):
            write_tensors(self.folder / name, {key: self.changed[key] for key in part})
            files |= dict.fromkeys(part, name)
        (self.folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": files}))
        self.config = self.write("nothing.toml", NO_CHANGE)

    def transform(self, load, **options):
        words = ("transform", BERT, "--config", self.config, "--load", load, "--project-dir", self.cwd / "projects")
        return self.mase(*words, "--project", "loaded", "--overwrite", "-q", **options)

    def test_an_index_and_its_folder_give_the_weights_of_all_files(self):
        for load in (self.folder, self.folder / "model.safetensors.index.json"):
            self.transform(load)
            self.mase("convert", self.cwd / "projects/loaded", "back.safetensors", "--overwrite")
            found = read_tensors(self.cwd / "back.safetensors")
            self.assertEqual({key: found[key] for key in self.changed}, self.changed)

    def test_a_file_that_the_index_names_is_missed(self):
        (self.folder / "two.safetensors").unlink()
        self.assertIn("two.safetensors: no such file", self.transform(self.folder, code=3))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--mase", required=True)
    parser.add_argument("--source", required=True)
    known, rest = parser.parse_known_args()
    MASE = str(Path(known.mase).resolve())
    BERT = Path(known.source).resolve() / "tests/fixtures/huggingface/bert"
    unittest.main(argv=[sys.argv[0], *rest])
