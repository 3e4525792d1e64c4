#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Texts through a tokenizer: a folder of transformers, made here with random weights, learns the classes of texts with
its own tokenizer.

usage: text_data_test.py --mase BINARY --source ROOT
"""

import argparse
import json
import random
import re
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

MASE = None
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "film", "was", "the", "a", "good", "fine", "bad", "dull"]
WIDTH, HIDDEN, POSITIONS = 8, 16, 32


def tokenizer_json(words=None, **changes):
    special = [["[CLS]", 2], ["[SEP]", 3]]
    return json.dumps({
        "version": "1.0", "added_tokens": [], "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": {"type": "BertProcessing", "cls": special[0], "sep": special[1]},
        "model": {"type": "WordLevel", "unk_token": "[UNK]",
                  "vocab": {word: i for i, word in enumerate(words or WORDS)}}, **changes,
    })  # fmt: skip


def tensors_of_bert(classes):
    layer = "bert.encoder.layer.0."
    shapes = {
        "bert.embeddings.word_embeddings.weight": (len(WORDS), WIDTH),
        "bert.embeddings.position_embeddings.weight": (POSITIONS, WIDTH),
        "bert.embeddings.token_type_embeddings.weight": (2, WIDTH),
        layer + "intermediate.dense.weight": (HIDDEN, WIDTH),
        layer + "intermediate.dense.bias": (HIDDEN,),
        layer + "output.dense.weight": (WIDTH, HIDDEN),
        layer + "output.dense.bias": (WIDTH,),
        "classifier.weight": (classes, WIDTH),
        "classifier.bias": (classes,),
    }
    linear = [layer + f"attention.{name}" for name in ("self.query", "self.key", "self.value", "output.dense")]
    for name in [*linear, "bert.pooler.dense"]:
        shapes[name + ".weight"], shapes[name + ".bias"] = (WIDTH, WIDTH), (WIDTH,)
    norms = ("bert.embeddings.LayerNorm", layer + "attention.output.LayerNorm", layer + "output.LayerNorm")
    for name in norms:
        shapes[name + ".weight"], shapes[name + ".bias"] = (WIDTH,), (WIDTH,)
    return shapes


def write_bert(folder, classes=2):
    numbers, header, data = random.Random(3), {}, b""
    for name, shape in tensors_of_bert(classes).items():
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        is_scale = name.endswith("LayerNorm.weight")
        values = [1.0 if is_scale else numbers.gauss(0, 0.3) if len(shape) > 1 else 0.0 for _ in range(count)]
        begin = len(data)
        data += struct.pack(f"<{count}f", *values)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
    config = {
        "architectures": ["BertForSequenceClassification"], "model_type": "bert", "vocab_size": len(WORDS),
        "hidden_size": WIDTH, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": HIDDEN,
        "max_position_embeddings": POSITIONS, "num_labels": classes, "hidden_act": "gelu", "layer_norm_eps": 1e-12,
        "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, "type_vocab_size": 2, "pad_token_id": 0,
    }  # fmt: skip
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer.json").write_text(tokenizer_json())
    (folder / "tokenizer_config.json").write_text(json.dumps({"pad_token": "[PAD]", "model_max_length": 1e30}))


def write_reviews(path, rows=300):
    numbers = random.Random(5)
    lines = ["text,label"]
    for row in range(rows):
        words = [numbers.choice(["film", "was", "the", "a"]) for _ in range(numbers.randint(1, 24))]
        words[numbers.randrange(len(words))] = numbers.choice(["good", "fine"] if row % 2 else ["bad", "dull"])
        lines.append(f'"{" ".join(words)}",{"good" if row % 2 else "bad"}')
    path.write_text("\n".join(lines) + "\n")


class TextData(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        write_bert(self.folder / "bert")
        write_reviews(self.folder / "reviews.csv")

    def mase(self, *arguments, code=0):
        command = [MASE, *map(str, arguments)]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def document(self, *arguments):
        said = self.mase(*arguments, "--json")  # and what the log says
        return json.JSONDecoder().raw_decode(said[said.index("{") :])[0]

    def train(self, project, epochs, *more, code=0):
        return self.mase("train", "bert", "text", "--data-dir", "reviews.csv", "--learning-rate", "0.01",
                         "--batch-size", "16", "--max-epochs", epochs, "--project", project, *more, code=code)  # fmt: skip

    def accuracy(self, project, *more):
        scores = json.loads(self.mase("test", f"mase_output/{project}", "--json", "--quiet", *more))["scores"]
        return scores["accuracy"], scores["loss"]

    def test_a_folder_learns_with_its_own_tokenizer(self):
        said = self.train("plain", 12)
        self.assertIn("texts become the ids of bert/tokenizer.json, the model's tokenizer", said)
        self.assertIn("texts have 3 to 26 tokens of bert/tokenizer.json, and rows have 26", said)
        accuracy, loss = self.accuracy("plain")
        self.assertGreater(accuracy, 0.95)
        # Rows of similar length give the same results but for the order of sums.
        again, other = self.accuracy("plain", "--group-by-length")
        self.assertEqual(again, accuracy)
        self.assertAlmostEqual(other, loss, delta=1e-5 * max(1, loss))
        # A checkpoint has the length of its rows, and its tokenizer.
        said = self.mase("test", "mase_output/plain")
        self.assertIn("max_token_len = 26", said)
        self.assertIn('tokenizer = "bert"', said)

    def test_a_resumed_run_with_groups_ends_with_the_same_bits(self):
        self.train("whole", 4, "--group-by-length")
        self.train("parts", 2, "--group-by-length")
        self.train("parts", 4, "--group-by-length", "--resume")
        self.assertIn("0 in tensors", self.mase("diff", "mase_output/whole", "mase_output/parts"))
        self.assertIn("options changed", self.train("parts", 5, "--resume", code=2))

    def test_a_model_that_sees_padding_is_not_grouped(self):
        said = self.train("seen", 1, "--group-by-length", "--fix", "attention_mask=none", code=2)
        self.assertIn("the model does not leave out padding; leave group_by_length out", said)

    def test_pairs_tell_the_tokens_of_the_second_text(self):
        # Both classes have the same words, so only the types tell them apart from a bag of words.
        rows = [("good film", "a film was"), ("the film", "good was a")] * 60
        lines = [f"{first},{second},{i % 2}" for i, (first, second) in enumerate(rows)]
        (self.folder / "pairs.csv").write_text("text,other,label\n" + "\n".join(lines) + "\n")
        pairs = ("text", "--data-dir", "pairs.csv", "--text-pair-column", "other")
        said = self.mase("train", "bert", *pairs, "--max-epochs", 6, "--learning-rate", "0.01", "--batch-size", "8",
                         "--project", "pairs")  # fmt: skip
        self.assertIn("rows have 8", said)
        self.assertNotIn("token_type_ids", said)
        self.assertEqual(self.accuracy("pairs")[0], 1)
        inputs = [
            line.split()[0] for line in self.mase("show", "mase_output/pairs").splitlines() if "placeholder" in line
        ]
        self.assertEqual(inputs, ["%input_ids", "%attention_mask", "%token_type_ids"])
        # A model that was made without pairs is not told the types.
        self.train("single", 1, "--max-steps", 1)
        single = ("test", "mase_output/single", *pairs, "--max-token-len", 8)
        self.assertIn("classes (--classes) is bad, good, but data set text has 0, 1", self.mase(*single, code=2))
        said = self.mase(*single, "--classes", "0,1")
        self.assertEqual(said.count("the model has no input token_type_ids"), 1, said)

    def test_a_checkpoint_knows_its_tokenizer_and_classes(self):
        config = json.loads((self.folder / "bert/config.json").read_text())
        config["id2label"] = {"0": "yes", "1": "no"}  # which are not the classes of the data
        (self.folder / "bert/config.json").write_text(json.dumps(config))
        self.train("named", 12)
        self.mase("train", "mase_output/named", "text", "--max-epochs", 1, "--project", "more")
        texts = ("--text", "the film was good", "--text", "a dull film")
        for project in ("named", "more"):
            document = self.document("run", f"mase_output/{project}", *texts)
            self.assertEqual([text["class"] for text in document["texts"]], ["good", "bad"])
        self.assertIn("best.pt: tokenizer = bert\n", self.mase("show", "mase_output/named", *texts))
        # The classes of rows without one of them keep their numbers.
        (self.folder / "good.csv").write_text("text,label\n" + "the film was good,good\n" * 20)
        self.assertEqual(self.accuracy("named", "text", "--data-dir", "good.csv")[0], 1)
        (self.folder / "bert").rename(self.folder / "moved")
        said = self.mase("run", "mase_output/named", *texts, code=3)
        self.assertIn("bert: no such file; the setting tokenizer (--tokenizer) names a tokenizer.json", said)
        said = self.mase("run", "mase_output/named", *texts, "--tokenizer", "moved")
        self.assertRegex(said, r"(?m)^bad [01]\.\d+: a dull film$")

    def test_sentences_of_a_configuration_are_those_of_the_command_line(self):
        passes = (
            '[[pass]]\nrun = "quantize"\nby = "type"\nreport = false\n[pass.linear.config]\n'
            'name = "integer"\ndata_in_width = 8\ndata_in_frac_width = "auto"\n[[pass]]\nrun = "calibrate"\n'
        )
        texts = ["the film was good", "a dull film"]
        words = [word for text in texts for word in ("--text", text)]

        def graph(name, text, *options):
            (self.folder / f"{name}.toml").write_text(text + passes)
            self.mase("transform", "bert", "--config", f"{name}.toml", "--project", name, *options)
            return self.mase("show", f"mase_output/{name}")

        wanted = graph("options", "", *words)
        self.assertEqual(graph("file", f"text = {json.dumps(texts)}\n"), wanted)
        self.assertEqual(graph("both", 'text = "another film"\n', *words), wanted)
        self.assertNotEqual(graph("one", 'text = "a dull film"\n'), wanted)
        resolved = self.folder / "mase_output/file/software/transform/transformed_ckpt/config.toml"
        self.mase("transform", "--config", resolved, "--project", "again")
        self.assertEqual(self.mase("show", "mase_output/again"), wanted)
        self.mase("init", "bert", *words, "-o", "init.toml")
        self.assertIn("the film was good", (self.folder / "init.toml").read_text().split("[[pass]]")[0])
        self.mase("transform", "--config", "init.toml", "--project", "init")
        said = self.mase("transform", "bert", "text", "--data-dir", "reviews.csv", "--config", "file.toml",
                         "--project", "data")  # fmt: skip
        self.assertIn("the configuration's text is not used", said)
        for wrong in ("3", "[]", '["a", 3]', '""'):
            (self.folder / "wrong.toml").write_text(f"text = {wrong}\n{passes}")
            said = self.mase("transform", "bert", "--config", "wrong.toml", code=2)
            self.assertIn("wrong.toml:1:", said)

    def test_more_outputs_without_names_than_classes_are_warned_of(self):
        write_bert(self.folder / "more", 3)
        data = ("text", "--data-dir", "reviews.csv")
        warning = "3 classes without names, and data set text has 2: bad, good; output i is taken for class i"
        self.assertIn(warning, self.mase("test", "more", *data))
        for model, classes in (("more", ("--classes", "other,good,bad")), ("bert", ())):
            self.assertNotIn("classes without names", self.mase("test", model, *data, *classes))

    def test_a_checkpoint_of_numbered_classes_names_the_tokenizer_that_is_gone(self):
        reviews = self.folder / "reviews.csv"
        reviews.write_text(reviews.read_text().replace(",good\n", ",1\n").replace(",bad\n", ",0\n"))
        self.train("numbered", 1, "--max-steps", 1)
        (self.folder / "bert").rename(self.folder / "moved")
        run = ("run", "mase_output/numbered", "--text", "a dull film")
        gone = "bert: no such file; --tokenizer names the tokenizer.json of mase_output/numbered"
        self.assertIn(gone, self.mase(*run, code=3))
        self.assertIn("nowhere: no such file; --tokenizer names", self.mase(*run, "--tokenizer", "nowhere", code=3))
        self.assertRegex(self.mase(*run, "--tokenizer", "moved"), r"(?m)^LABEL_[01] [01]\.\d+: a dull film$")

    def test_formats_that_see_padding_are_warned_of(self):
        changes = "in the formats of the model, the results of a row of 3 tokens change by"
        for block_dim, warns in ((-1, False), (-2, True)):  # features, tokens
            (self.folder / "mx.toml").write_text(
                '[[pass]]\nrun = "quantize"\nby = "type"\n[pass.linear.config]\nname = "mxint"\n'
                f"data_in_width = 4\ndata_in_block_dim = {block_dim}\n"
            )
            self.mase("transform", "bert", "text", "--data-dir", "reviews.csv", "--config", "mx.toml",
                      "--project", "mx", "--overwrite")  # fmt: skip
            said = self.mase("test", "mase_output/mx", "--group-by-length")
            self.assertEqual(changes in said, warns, said)

    def test_files_of_a_fixed_length_name_the_setting_for_it(self):
        self.mase("convert", "bert", "bert.onnx")
        run = ("run", "bert.onnx", "--text", "the film was good", "--tokenizer", "bert", "--output", "x.npy")
        said = self.mase(*run, code=2)
        remedy = re.search(r"\((--max-token-len) (\d+)\)", said)
        self.assertTrue(remedy, said)
        self.mase(*run, *remedy.groups())
        test = ("test", "bert.onnx", "text", "--data-dir", "reviews.csv", "--tokenizer", "bert")
        self.assertIn(remedy.group(), self.mase(*test, code=2))
        self.mase(*test, *remedy.groups())

    def test_texts_that_are_cut_have_a_remedy_if_there_is_one(self):
        long = "the film was " * 20
        (self.folder / "long.csv").write_text("text,label\n" + f"{long},1\ngood,0\n" * 10)
        data = ("text", "--data-dir", "long.csv")
        said = self.mase("test", "bert", *data)
        self.assertIn("are cut (the model has positions for no more tokens)", said)
        said = self.mase("test", "bert", *data, "--max-token-len", 12)
        self.assertIn("are cut (max_token_len allows more)", said)

    def test_a_large_vocabulary_has_a_short_table(self):
        words = [f"w{i}" for i in range(150)]
        (self.folder / "words.json").write_text(tokenizer_json(words, post_processor=None, model={
            "type": "WordLevel", "unk_token": "w0", "vocab": {word: i for i, word in enumerate(words)}}))  # fmt: skip
        (self.folder / "words.txt").write_text(" ".join(words * 40 + ["w149"] * 400))
        data = ("data", "text", "--data-dir", "words.txt", "--tokenizer", "words.json", "--max-token-len", 8)
        said = self.mase(*data)
        self.assertIn(", the 100 largest of 150 (--json has all)", said)
        rows = [line.split()[1] for line in said.splitlines() if line.startswith("| w")]
        self.assertEqual(len(rows), 100)
        self.assertEqual(rows[:3], ["w149", "w1", "w2"])  # the first token, w0, follows no other
        document = self.document(*data)
        self.assertEqual(len(document["targets"][0]["classes"]), 150)

    def test_what_does_not_fit_is_refused(self):
        other = self.folder / "other.json"
        other.write_text(tokenizer_json([*WORDS[:4], "more", *WORDS[4:]]))
        said = self.train("other", 1, "--tokenizer", other, code=2)
        self.assertIn(
            "gives the id 12, but the model's embedding bert.embeddings.word_embeddings.weight has 12 rows", said
        )
        other.write_text(tokenizer_json(model={"type": "Words"}))
        self.assertIn("other.json: model.type", self.mase("data", "text", "--data-dir", "reviews.csv", "--tokenizer",
                                                          other, code=3))  # fmt: skip
        said = self.train("other", 1, "--max-token-len", POSITIONS + 1, code=2)
        self.assertIn("max_token_len = 33: the model has positions for 32 tokens", said)


def main():
    global MASE
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mase", required=True)
    parser.add_argument("--source", required=True)
    arguments, rest = parser.parse_known_args()
    MASE = Path(arguments.mase).resolve()
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
