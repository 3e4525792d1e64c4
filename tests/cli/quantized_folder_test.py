#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Folders of transformers with safetensors in several files, read and written by the program. This test has its own
reader and writer of such files, and needs Python alone.

usage: quantized_folder_test.py --mase BINARY --source ROOT [unittest arguments]
"""

import argparse
import json
import resource
import shutil
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

    def test_weights_that_nobody_quantizes_stay(self):
        self.mase("convert", BERT, "copy/")
        self.assertEqual(read_tensors(self.cwd / "copy/model.safetensors"), read_tensors(BERT / "model.safetensors"))


def floats(kind, data):
    if kind == "F32":
        return list(struct.unpack(f"<{len(data) // 4}f", data))
    if kind == "F16":
        return list(struct.unpack(f"<{len(data) // 2}e", data))
    widened = b"".join(b"\0\0" + data[i : i + 2] for i in range(0, len(data), 2))
    return list(struct.unpack(f"<{len(data) // 2}f", widened))


def narrow(kind, values):
    if kind == "F32":
        return struct.pack(f"<{len(values)}f", *values)
    if kind == "F16":
        return struct.pack(f"<{len(values)}e", *values)
    data = struct.pack(f"<{len(values)}f", *values)
    return b"".join(data[i + 2 : i + 4] for i in range(0, len(data), 4))


def integer(value, width, fraction):
    """The nearest multiple of 2^-fraction, ties to even, saturated; Python rounds ties to even, too."""
    code = min(max(round(value * 2**fraction), -(2 ** (width - 1))), 2 ** (width - 1) - 1)
    return code / 2**fraction


class Written(InFolder):
    """A folder with quantized weights, from BERT with weights of several types."""

    def setUp(self):
        super().setUp()
        self.tensors = read_tensors(BERT / "model.safetensors")

    def source(self, kind):
        folder = self.cwd / f"source_{kind}"
        folder.mkdir()
        tensors = {
            key: (kind, shape, narrow(kind, floats(was, data))) if was == "F32" else (was, shape, data)
            for key, (was, shape, data) in self.tensors.items()
        }
        write_tensors(folder / "model.safetensors", tensors)
        config = json.loads((BERT / "config.json").read_text())
        config.pop("dtype", None)
        config["torch_dtype"] = {"F32": "float32", "F16": "float16", "BF16": "bfloat16"}[kind]
        (folder / "config.json").write_text(json.dumps(config))
        (folder / "vocab.txt").write_text("[PAD]\n[UNK]\n")
        (folder / "notes.txt").write_text("not of the model\n")
        return folder, {key: floats(each[0], each[2]) for key, each in tensors.items() if each[0] == kind}

    def config(self, width=8, fraction=6):
        return self.write(
            f"integer{width}.toml",
            f"""[passes.quantize]
by = "type"
report = false
[passes.quantize.linear.config]
name = "integer"
data_in_width = 8
data_in_frac_width = 4
weight_width = {width}
weight_frac_width = {fraction}
bias_width = {width}
bias_frac_width = {fraction}
""",
        )

    def transform(self, folder, config, *words, project="p", **options):
        projects = ("--project-dir", self.cwd / "projects", "--project", project)
        return self.mase("transform", folder, "--config", config, *projects, "--overwrite", "-q", *words, **options)

    def is_linear(self, key):
        return key.endswith(("dense.weight", "dense.bias")) or ".self." in key

    def results(self, model):
        self.mase("run", model, *self.inputs(), "--output", "y.npy")
        return [(self.cwd / f"y_{i}.npy").read_bytes() for i in (0, 1)]

    def expect(self, folder, kind, source, width=8, fraction=6):
        found = read_tensors(folder / "model.safetensors")
        self.assertEqual(found.keys(), self.tensors.keys())
        for key, values in source.items():
            wanted = [integer(value, width, fraction) for value in values] if self.is_linear(key) else values
            self.assertEqual(found[key][0], kind, key)
            self.assertEqual(found[key][1], self.tensors[key][1], key)
            self.assertEqual(floats(kind, found[key][2]), wanted, key)

    def test_weights_have_the_values_of_their_format_in_the_type_of_the_source(self):
        for kind in ("F32", "F16", "BF16"):
            folder, values = self.source(kind)
            out = self.cwd / f"out_{kind}"
            self.transform(folder, self.config(), "--export", f"{out}/", project=kind)
            self.expect(out, kind, values)
            wanted = json.loads((folder / "config.json").read_text())
            self.assertEqual(json.loads((out / "config.json").read_text()), wanted)
            self.assertEqual((out / "vocab.txt").read_bytes(), (folder / "vocab.txt").read_bytes())
            self.assertFalse((out / "notes.txt").exists())
            self.transform(folder, self.config(), project="checkpoint")
            checkpoint = self.cwd / "projects/checkpoint"
            self.assertEqual(self.results(out), self.results(checkpoint))
            self.mase("convert", out, "again/", "--overwrite")
            for name in ("model.safetensors", "config.json", "vocab.txt"):
                self.assertEqual((self.cwd / "again" / name).read_bytes(), (out / name).read_bytes(), name)

    def test_weights_that_were_changed_afterwards_are_refused_where_they_are_read(self):
        folder, _ = self.source("BF16")
        self.transform(folder, self.config(), "--export", "out/")
        for name in ("model", "mase"):
            path = self.cwd / "out" / f"{name}.safetensors"
            tensors, bytes_before = read_tensors(path), path.read_bytes()
            key = max(tensors)
            kind, shape, data = tensors[key]
            write_tensors(path, tensors | {key: (kind, shape, bytes([data[0] ^ 1]) + data[1:])})
            refused = self.mase("run", "out", *self.inputs(), "--output", "y.npy", code=3)
            self.assertIn(f"{name}.safetensors: the tensor '{key}' has changed", refused)
            self.mase("show", "out")  # reads no weight
            self.mase("convert", "out", "new/", code=3)
            self.assertFalse((self.cwd / "new/config.json").exists())
            path.write_bytes(bytes_before)
        self.results("out")
        write_tensors(self.cwd / "out/model.safetensors", self.tensors)  # as the message says
        (self.cwd / "out/mase.json").unlink()
        self.assertEqual(self.results("out"), self.results(BERT))

    def test_a_type_without_all_values_gives_way_to_float32(self):
        folder, values = self.source("BF16")
        out = self.cwd / "out"
        self.transform(folder, self.config(10, 16), "--export", f"{out}/")
        self.expect(out, "F32", values, 10, 16)
        self.assertEqual(json.loads((out / "config.json").read_text())["torch_dtype"], "float32")

    def test_a_checkpoint_remembers_its_folder(self):
        folder, values = self.source("BF16")
        self.transform(folder, self.config())
        checkpoint = self.cwd / "projects/p"
        self.mase("convert", checkpoint, "first/")
        self.expect(self.cwd / "first", "BF16", values)
        folder = folder.rename(self.cwd / "moved")
        refused = self.mase("convert", checkpoint, "out/", code=3)
        self.assertIn("--source", refused)
        self.assertEqual(list((self.cwd / "out").glob("*")), [])
        self.mase("convert", checkpoint, "out/", "--source", folder)
        self.expect(self.cwd / "out", "BF16", values)
        self.assertEqual((self.cwd / "out/vocab.txt").read_bytes(), (folder / "vocab.txt").read_bytes())

    def test_shards_keep_below_the_limit(self):
        folder, values = self.source("F32")
        self.mase("convert", folder, "out/", "--max-shard-size", "5KB")
        out = self.cwd / "out"
        index = json.loads((out / "model.safetensors.index.json").read_text())
        found = {}
        for name in sorted(set(index["weight_map"].values())):
            part = read_tensors(out / name)
            self.assertEqual({key: name for key in part}, {k: v for k, v in index["weight_map"].items() if v == name})
            size = sum(len(data) for _, _, data in part.values())
            self.assertTrue(size <= 5000 or len(part) == 1, (name, size))
            found |= part
        self.assertEqual(found, read_tensors(folder / "model.safetensors"))
        self.assertEqual(index["metadata"]["total_size"], sum(len(data) for _, _, data in found.values()))
        self.assertEqual(self.results(out), self.results(folder))
        self.mase("convert", folder, "out/", "--overwrite")  # no shard of before stays
        self.assertEqual([path.name for path in out.glob("model*")], ["model.safetensors"])
        for wrong in ("5 parsecs", "0", "GB", "-1"):
            self.assertIn("5GB", self.mase("convert", folder, "new/", f"--max-shard-size={wrong}", code=2))

    def folding(self, *options):
        passes = [["fold_constants", *options], ["quantize", 'by = "type"', "report = false"]]
        text = "".join("\n".join((f'[[pass]]\nrun = "{name}"', *rest, "")) for name, *rest in passes)
        layer = (
            'name = "integer"',
            "weight_width = 8",
            "weight_frac_width = 6",
            "bias_width = 8",
            "bias_frac_width = 6",
        )
        return self.write("folding.toml", text + "\n".join(("[pass.linear.config]", *layer, "")))

    def inputs(self):
        return ("--input", BERT / "input_ids.npy", "--input", BERT / "attention_mask.npy")

    def test_tables_that_were_folded_into_constants_are_those_of_the_source(self):
        folder, values = self.source("BF16")
        self.transform(folder, self.folding(), *self.inputs(), "--export", "out/")
        self.expect(self.cwd / "out", "BF16", values)
        self.assertIn("folded_embeddings_position_embeddings", (self.cwd / "out/mase.json").read_text())
        self.transform(folder, self.folding(), *self.inputs(), project="checkpoint")
        self.assertEqual(self.results("out"), self.results(self.cwd / "projects/checkpoint"))
        self.mase("convert", "out", "again/")
        self.assertEqual(self.results("again"), self.results("out"))
        (self.cwd / "again/model.safetensors").unlink()
        self.assertIn("--source", self.mase("convert", "projects/checkpoint", "new/", "--source", "again", code=3))
        self.assertEqual(list((self.cwd / "new").glob("*")), [])

    def test_tables_that_were_folded_with_other_values_are_those_or_refused(self):
        folder, values = self.source("F32")
        other = self.cwd / "other.safetensors"
        key = "embeddings.position_embeddings.weight"
        kind, shape, data = self.tensors[key]
        write_tensors(other, self.tensors | {key: (kind, shape, data[::-1])})
        words = (*self.inputs(), "--load", other)
        self.transform(folder, self.folding(), *words, "--export", "out/")
        values[key] = floats(kind, data[::-1])
        self.expect(self.cwd / "out", "F32", values)
        self.transform(folder, self.folding(), *words)
        refused = self.mase("convert", "projects/p", "new/", code=4)
        self.assertIn(f"{key} was folded with other values", refused)
        self.assertIn("parameters = false", refused)
        self.assertEqual(list((self.cwd / "new").glob("*")), [])
        self.transform(folder, self.folding("parameters = false"), *words)
        self.mase("convert", "projects/p", "new/")
        self.expect(self.cwd / "new", "F32", values)

    def test_a_folder_that_has_something_stays(self):
        out = self.cwd / "out"
        out.mkdir()
        (out / "mine.txt").write_text("mine")
        self.assertIn("--overwrite", self.mase("convert", BERT, "out/", code=2))
        self.mase("convert", BERT, "out/", "--overwrite")
        self.assertEqual((out / "mine.txt").read_text(), "mine")
        self.assertIn("read", self.mase("convert", out, f"{out}/", "--overwrite", code=2))
        self.mase("show", out)

    def test_a_model_of_another_source_has_no_folder(self):
        refused = self.mase("convert", "jsc-toy", "out/", code=4)
        self.assertIn(".pt2", refused)
        self.assertEqual(list((self.cwd / "out").glob("*")), [])

    def test_a_run_that_is_killed_leaves_no_folder_that_is_taken_for_a_model(self):
        folder, _ = self.source("F32")
        out = self.cwd / "out"
        words = [MASE, "convert", folder, f"{out}/", "--max-shard-size", "5KB"]
        limit = 20000  # bytes: the files of weights are smaller, mase.json is larger

        def limited():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        killed = subprocess.run(words, cwd=self.cwd, preexec_fn=limited, capture_output=True, check=False)
        self.assertNotEqual(killed.returncode, 0)
        self.assertTrue((out / "model.safetensors.index.json").exists())
        self.assertFalse((out / "config.json").exists())
        self.mase("show", out, code=3)
        self.assertIn("--overwrite", self.mase("convert", folder, "out/", code=2))
        self.mase("convert", folder, "out/", "--overwrite")
        self.assertEqual(self.results(out), self.results(folder))


class InPlaceOfCheckpoint(InFolder):
    """A folder does what a checkpoint of the same transformation does."""

    def setUp(self):
        super().setUp()
        self.source = self.cwd / "reviews"
        shutil.copytree(BERT.parent / "bert_classifier", self.source)
        texts = [f"The {what} is {word}." for what in ("plot", "music", "film") for word in ("good", "dull", "lovely")]
        self.rows = self.write("rows.csv", "text,label\n" + "".join(f"{text},{len(text) % 2}\n" for text in texts * 3))
        self.data = ("text", "--data-dir", self.rows)
        config = BERT.parents[3] / "configs/huggingface/bert_integer8.toml"
        transform = ("transform", "reviews", *self.data, "--config", config, "-q")
        self.mase(*transform, "--project", "p")
        self.mase(*transform, "--project", "exported", "--export", "out/")
        self.checkpoint = self.cwd / "mase_output/p"

    def test_hardware_is_that_of_the_checkpoint_wherever_the_folder_lies(self):
        self.mase("emit", self.checkpoint, "--project", "a")
        self.mase("emit", "out", "--project", "b")
        first, second = (self.cwd / f"mase_output/{project}/hardware" for project in "ab")
        files = sorted(path.relative_to(first) for path in first.rglob("*") if path.is_file())
        self.assertEqual(files, sorted(path.relative_to(second) for path in second.rglob("*") if path.is_file()))
        for name in files:
            if name.name != "graph.txt":  # which names the folder that the model is of
                self.assertEqual((first / name).read_bytes(), (second / name).read_bytes(), name)
        (self.cwd / "out").rename(self.cwd / "moved")
        refused = self.mase("emit", "moved", "--reload-image", "weights.bin", "--project", "b", code=2)
        self.assertIn("--reloadable", refused)  # so it is the same model

    def test_a_project_says_which_folder_it_has_in_place_of_a_checkpoint(self):
        self.assertIn("the folder out/", self.mase("test", "mase_output/exported", *self.data, code=3))
        self.mase("convert", "out/", "back.pt")
        self.assertEqual(self.mase("test", "back.pt", *self.data), self.mase("test", self.checkpoint, *self.data))

    def test_an_export_that_fails_leaves_the_checkpoint(self):
        (self.source / "tokenizer_config.json").write_text("{}")
        config = BERT.parents[3] / "configs/huggingface/bert_integer8.toml"
        again = ("transform", self.checkpoint, *self.data, "--config", config, "-q", "--project", "p", "--overwrite")
        checkpoint = self.checkpoint / "software/transform/transformed_ckpt/graph_module.pt"
        before = checkpoint.read_bytes()
        self.source.rename(self.cwd / "moved")
        words = (*again, "--tokenizer", "moved", "--export", "new/")
        self.assertIn("--source", self.mase(*words, code=3))
        self.assertEqual(checkpoint.read_bytes(), before)
        self.mase(*words, "--source", "moved")
        self.assertFalse(checkpoint.exists())

    def test_tables_that_were_trained_and_then_folded_are_written(self):
        self.mase("train", "reviews", *self.data, "--max-epochs", "1", "--project", "trained", "-q")
        config = self.write("fold.toml", '[[pass]]\nrun = "fold_constants"\n')
        transform = ("transform", "mase_output/trained", *self.data, "--config", config, "-q", "--project", "folded")
        self.mase(*transform, "--export", "folded/", "--source", "reviews")
        self.mase("convert", "mase_output/trained", "plain/")
        self.mase(*transform, "--overwrite")  # the same by way of a checkpoint
        refused = self.mase("convert", "mase_output/folded", "converted/", code=4)
        self.assertIn("Give --source FOLDER with the values that were folded", refused)
        self.mase("convert", "mase_output/folded", "converted/", "--source", "plain")
        for name in ("model.safetensors", "config.json"):
            converted, folded = ((self.cwd / out / name).read_bytes() for out in ("converted", "folded"))
            self.assertEqual(converted, folded, name)
        wanted = read_tensors(self.cwd / "plain/model.safetensors")
        self.assertEqual(read_tensors(self.cwd / "folded/model.safetensors"), wanted)
        self.assertNotEqual(read_tensors(self.source / "model.safetensors"), wanted)

    def test_texts_go_through_the_tokenizer_of_the_folder(self):
        sentence = "The plot is not good."
        wanted = self.mase("run", self.checkpoint, "--text", sentence)
        accuracy = self.mase("test", self.checkpoint, *self.data)
        shutil.rmtree(self.source)
        (self.cwd / "elsewhere").mkdir()
        (self.cwd / "out").rename(self.cwd / "elsewhere/moved")
        self.cwd = self.cwd / "elsewhere"
        self.assertEqual(self.mase("run", "moved", "--text", sentence), wanted)
        self.assertEqual(self.mase("test", "moved", *self.data), accuracy)
        self.mase("convert", "moved", "again/")
        self.assertEqual(self.mase("run", "again", "--text", sentence), wanted)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--mase", required=True)
    parser.add_argument("--source", required=True)
    known, rest = parser.parse_known_args()
    MASE = str(Path(known.mase).resolve())
    BERT = Path(known.source).resolve() / "tests/fixtures/huggingface/bert"
    unittest.main(argv=[sys.argv[0], *rest])
