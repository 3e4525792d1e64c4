#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The program as a user meets it: commands, exit codes, output streams, files, killing and resuming.

usage: cli_test.py --mase BINARY --source ROOT [unittest arguments]
"""

import argparse
import hashlib
import json
import math
import os
import random
import re
import resource
import shlex
import signal
import struct
import subprocess
import sys
import tempfile
import time
import tomllib
import unittest
import xml.etree.ElementTree
import zipfile
import zlib
from pathlib import Path

MASE = SOURCE = None


def mase(*arguments, cwd, **options):
    """Runs the program; its completed process with text streams."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [str(MASE), *map(str, arguments)],
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


def info(checkpoint):
    """The metadata inside a checkpoint."""
    with zipfile.ZipFile(checkpoint) as archive:
        name = next(n for n in archive.namelist() if n.endswith("extra/mase/info.json"))
        return json.loads(archive.read(name))


def files_below(folder):
    return sorted(str(p.relative_to(folder)) for p in Path(folder).rglob("*") if p.is_file())


def start(*arguments, cwd):
    """Starts the program; stderr can be read."""
    return subprocess.Popen(
        [str(MASE), *map(str, arguments)],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def wait_for(path, process):
    """Until a file is there or the process has ended."""
    while not path.exists() and process.poll() is None:
        time.sleep(0.01)


class InFolder(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.cwd = Path(self._folder.name)

    def run_mase(self, *arguments, code=0, **options):
        result = mase(*arguments, cwd=self.cwd, **options)
        self.assertEqual(result.returncode, code, f"{arguments}\n{result.stdout}\n{result.stderr}")
        return result

    def write(self, name, text):
        path = self.cwd / name
        path.write_text(text, encoding="utf-8")
        return path


class Usage(InFolder):
    def test_help_and_version_need_nothing(self):
        self.assertIn("Usage", self.run_mase("--help").stdout)
        self.assertRegex(self.run_mase("--version").stdout, r"^mase \d+\.\d+")
        for command in (
            "train",
            "search",
            "test",
            "transform",
            "run",
            "quantize",
            "emit",
            "simulate",
            "show",
            "study",
            "data",
            "init",
            "diff",
            "report",
            "export",
            "list",
            "doctor",
            "completion",
        ):
            self.assertIn("Usage", self.run_mase(command, "--help").stdout)

    def test_a_wrong_command_line_ends_with_2(self):
        self.run_mase("no-such-command", code=2)
        self.run_mase("list", "no-such-list", code=2)
        self.run_mase("train", "jsc-tiny", "jsc", "--batch-size", "many", code=2)
        self.run_mase("show", "no-such-model", code=2)

    def test_a_mistyped_word_is_named_with_what_is_near(self):
        for arguments, said in (
            (("trian",), "there is no command 'trian'; did you mean 'train'?"),
            (("train", "jsc-tiny", "jsc", "--lerning-rate=0.1"), "'--lerning-rate'; did you mean '--learning-rate'?"),
            (("test", "jsc-tiny", "jsc", "--levle", "integer"), "'--levle'; did you mean '--level'?"),
            (("doctor", "now"), "'now' is one word too many"),
            (("help", "serach"), "did you mean 'search'?"),
        ):
            self.assertIn(said, self.run_mase(*arguments, code=2).stderr)

    def test_help_of_a_command_is_what_its_option_prints(self):
        self.assertEqual(self.run_mase("help").stdout, self.run_mase("--help").stdout)
        self.assertEqual(self.run_mase("help", "train").stdout, self.run_mase("train", "--help").stdout)

    def test_the_help_of_a_command_fits_a_screen_and_says_how_to_see_the_rest(self):
        commands = re.findall(r"^  (\w+)[, ].*", self.run_mase("--help").stdout.split("Subcommands:")[1], re.MULTILINE)
        self.assertIn("train", commands)
        for command in commands:
            short = self.run_mase(command, "--help").stdout
            self.assertLessEqual(len(short.splitlines()), 40, short)
            rest = re.search(rf"(\d+) more options: mase help {command} --all", short)
            options = re.compile(r"^  (?:-\w,)?--[\w-]+", re.MULTILINE)
            every = self.run_mase("help", command, "--all").stdout
            left_out = set(options.findall(every)) - set(options.findall(short))
            self.assertEqual(len(left_out), int(rest[1]) if rest else 0, command)
        self.assertIn("--momentum", self.run_mase("help", "train", "--all").stdout)
        self.assertNotIn("--momentum", self.run_mase("train", "--help").stdout)

    def test_the_settings_table_has_what_was_given_unless_all_are_asked_for(self):
        arguments = ("show-nothing", "--seed", "3")
        self.assertEqual(self.run_mase("test", *arguments, code=2).stdout, "")
        short = self.run_mase("test", *arguments, "-v", code=2).stdout
        self.assertIn("seed", short)
        self.assertNotIn("learning_rate", short)
        self.assertLess(len(short.splitlines()), 10)
        self.assertIn("split_seed", self.run_mase("test", *arguments, "--settings", code=2).stdout)

    def test_a_task_is_what_the_data_set_is_for(self):
        said = self.run_mase("test", "jsc-tiny", "jsc", "--task", "lm", code=2).stderr
        self.assertIn('task = "next_token": data set jsc is for classification', said)

    def test_a_set_without_labels_measures_the_distance_from_float(self):
        (self.cwd / "rows").mkdir()
        values = [i * 7 % 11 / 11 - 0.5 for i in range(640)]
        write_vector(self.cwd / "rows/x.npy", "<f4", values, "<f", (40, 16))
        plain = self.run_mase("test", "jsc-tiny", "npy", "--data-dir", "rows", "--level", "float", "--json")
        output = json.loads(plain.stdout)["levels"]["float"]["outputs"]["output"]
        # A model is equal to itself: no finite SQNR, the cosine 1, no error.
        self.assertEqual((output["sqnr_db"], output["cosine"], output["worst"]), (None, 1.0, 0.0))
        self.assertEqual(output["elements"], 8 * 5)
        self.assertIn("compared with itself", plain.stderr)
        self.run_mase("init", "jsc-tiny", "npy", "--data-dir", "rows", "-o", "rows.toml")
        self.run_mase("transform", "--config", "rows.toml", "--project", "rows")
        levels = ["test", "mase_output/rows", "npy", "--data-dir", "rows", "--level", "quantized,integer", "--json"]
        found = json.loads(self.run_mase(*levels).stdout)["levels"]
        for level in ("quantized", "integer"):
            self.assertGreater(found[level]["outputs"]["output"]["sqnr_db"], 15)
        self.assertIn("below the required 200", self.run_mase(*levels[:-1], "--min-sqnr", "200", code=1).stderr)
        said = self.run_mase("test", "jsc-tiny", "npy", "--data-dir", "rows", "--min-accuracy", "5", code=2).stderr
        self.assertIn("--min-sqnr", said)
        self.run_mase("init", "jsc-tiny", "npy", "--data-dir", "rows", "--search", "-o", "search.toml")
        searched = self.run_mase("search", "--config", "search.toml", "--n-trials", "2", "--project", "found")
        self.assertIn("sqnr_db", searched.stdout)
        self.assertIn(
            "nowhere: no such folder", self.run_mase("test", "lenet", "npy", "--data-dir", "nowhere", code=3).stderr
        )
        self.assertIn("add y.npy", self.run_mase("train", "jsc-tiny", "npy", "--data-dir", "rows", code=2).stderr)
        self.assertIn("leave task out", self.run_mase("train", "jsc-tiny", "jsc", "--task", "none", code=2).stderr)

    def test_the_list_of_formats_says_what_a_value_takes(self):
        formats = json.loads(self.run_mase("list", "formats", "--json").stdout)
        bits = {row["name"]: row["bits"] for row in formats}
        # The MX formats of OCP share 8 bits among 32 values, NVFP4 shares 8 among 16, a float32 step serves 1024.
        expected = {"integer": 8, "fp8_e4m3": 8, "fp4_e2m1": 4, "mxint8": 8.25, "mxfp6_e3m2": 6.25, "mxfp4": 4.25}
        expected |= {"nvfp4": 4.5, "scale_integer": 8.03, "binary": 1, "ternary": 2}
        self.assertEqual({name: bits[name] for name in expected}, expected)

    def test_lists_are_json_with_every_option(self):
        for what in (
            "passes",
            "formats",
            "ops",
            "models",
            "datasets",
            "settings",
            "samplers",
            "metrics",
            "runners",
            "spaces",
        ):
            rows = json.loads(self.run_mase("list", what, "--json").stdout)
            self.assertTrue(rows and all(row["name"] and row["doc"] for row in rows), what)
        quantize = json.loads(self.run_mase("list", "passes", "quantize", "--json").stdout)
        keys = [key["name"] for key in quantize["config_keys"]["linear"]["integer"]]
        self.assertIn("data_in_width", keys)
        self.assertIn("bias_frac_width", keys)
        profile = json.loads(self.run_mase("list", "passes", "profile_statistics", "--json").stdout)
        arguments = [key["name"] for key in profile["config_keys"]["statistics"]["range_quantile"]]
        self.assertEqual(arguments, ["abs", "quantile", "dims"])

    def test_the_keys_of_quantize_are_a_rule_on_one_screen_unless_all_are_asked_for(self):
        short = self.run_mase("list", "passes", "quantize").stdout
        self.assertLess(len(short.splitlines()), 50)
        for part in ("PORT_FIELD", "data_in, weight, bias, data_out", "mxint8", "--all"):
            self.assertIn(part, short)
        every = self.run_mase("list", "passes", "quantize", "--all").stdout
        self.assertIn('[passes.quantize.linear.config] with name = "integer"', every)

    def test_all_faults_of_a_file_are_reported_at_once_with_their_places(self):
        self.write("x.toml", 'model = "jsc-tiny"\nbatch_size = "a"\nlerning_rate = 1\n[passes.quantise]\n')
        result = self.run_mase("transform", "--config", "x.toml", code=2)
        self.assertEqual(result.stdout, "")
        lines = result.stderr.strip().splitlines()
        self.assertEqual(len(lines), 3, result.stderr)
        self.assertIn("x.toml:2:14: error: option 'batch_size' must be an integer, got string", lines)
        self.assertTrue(any(line.startswith("x.toml:3:1:") and "'learning_rate'" in line for line in lines))
        self.assertTrue(any(line.startswith("x.toml:4:") and "'quantize'" in line for line in lines))

    def test_settings_that_change_nothing_are_accepted_but_not_shown(self):
        ignored = {
            "trainer_precision": '"32"',
            "num_devices": 1,
            "num_nodes": 1,
            "accelerator": '"cpu"',
            "strategy": '"auto"',
            "disable_dataset_cache": "true",
        }
        lines = [f"{name} = {value}" for name, value in ignored.items()]
        self.write("x.toml", "\n".join(['model = "jsc-tiny"', *lines, "learning_rate = 0.5", "[passes.count_dropout]"]))
        arguments = ("transform", "--config", "x.toml", "--dry-run", "--json", "--nodes", "1", "--strategy", "auto")
        settings = json.loads(self.run_mase(*arguments).stdout)["settings"]
        self.assertEqual((settings["num_nodes"], settings["learning_rate"]), (1, 0.5))
        flags = {"trainer-precision", "gpu", "nodes", "accelerator", "strategy", "disable-dataset-cache"}
        hidden = {
            "train": flags,
            "transform": {*flags, "learning-rate", "report-to"},
            "search": {*flags, "report-to"},
            "test": {*flags, "max-epochs"},
            "emit": {*flags, "learning-rate", "data-dir", "threads"},
            "simulate": {*flags, "learning-rate", "batch-size", "load"},
        }
        shown = {
            "train": {"learning-rate", "report-to", "load"},
            "transform": {"batch-size", "seed"},
            "search": {"max-epochs"},
            "test": {"batch-size", "threads"},
            "emit": {"project-dir", "clock", "seed"},
            "simulate": {"seed", "data-dir"},
        }
        for command in hidden:
            text = set(re.findall(r"--([\w-]+)", self.run_mase("help", command, "--all").stdout))
            self.assertEqual(text & hidden[command], set(), command)
            self.assertLessEqual(shown[command], text, command)

    def test_completion_knows_the_commands_and_what_help_shows(self):
        for shell in ("bash", "zsh", "fish"):
            text = self.run_mase("completion", shell).stdout
            self.assertIn("transform", text)
            self.assertIn("learning-rate", text)
            self.assertNotIn("--strategy", text)

    def completed(self, *words):
        """What bash offers for the last word."""
        line = " ".join(f"'{word}'" for word in ("mase", *words))
        script = f"source <('{MASE}' completion bash); COMP_WORDS=({line}); COMP_CWORD={len(words)}; _mase; "
        script += "printf '%s\\n' \"${COMPREPLY[@]}\""
        done = subprocess.run(["bash", "-c", script], cwd=self.cwd, capture_output=True, text=True, check=True)
        return set(done.stdout.split())

    def test_completion_offers_values(self):
        self.write("jsc_mine.toml", "")
        self.assertEqual(self.completed("sea"), {"search"})
        self.assertEqual(self.completed("show", "lenet", "--format", "s"), {"svg"})
        self.assertEqual(self.completed("show", "lenet", "--format", "=", "s"), {"svg"})
        self.assertEqual(self.completed("quantize", "--format", "mxfp8"), {"mxfp8_e4m3", "mxfp8_e5m2"})
        self.assertEqual(self.completed("search", "--sampler", "nsg"), {"nsgaii", "nsgaiii"})
        self.assertEqual(self.completed("train", "--dataset", "mn"), {"mnist"})
        self.assertEqual(self.completed("train", "--training-optimizer", "sg"), {"sgd"})
        self.assertLessEqual({"jsc-tiny", "jsc_mine.toml"}, self.completed("train", "jsc"))
        self.assertEqual(self.completed("list", "pas"), {"passes"})
        self.assertEqual(self.completed("train", "--learning-r"), {"--learning-rate"})


class Colours(InFolder):
    def colours(self, **variables):
        environment = {k: v for k, v in os.environ.items() if "COLOR" not in k}
        done = subprocess.run(
            [str(MASE), "show", "none.pt"],
            cwd=self.cwd,
            env={**environment, **variables},
            capture_output=True,
            check=False,
        )
        self.assertIn(b"none.pt: no such file", done.stderr)
        return done.stderr.count(b"\x1b[")

    def test_a_pipe_has_none_unless_they_are_asked_for(self):
        self.assertEqual(self.colours(), 0)
        self.assertGreater(self.colours(CLICOLOR_FORCE="1"), 0)
        self.assertEqual(self.colours(CLICOLOR_FORCE="0"), 0)
        self.assertEqual(self.colours(CLICOLOR_FORCE="1", NO_COLOR="1"), 0)

    def on_a_terminal(self, **variables):
        """What `test` writes to a terminal."""
        ours, theirs = os.openpty()
        command = [str(MASE), "test", "jsc-tiny", "jsc", "--batch-size", "16"]
        environment = {**{k: v for k, v in os.environ.items() if "COLOR" not in k}, "TERM": "xterm", **variables}
        running = subprocess.Popen(command, cwd=self.cwd, env=environment, stdout=subprocess.DEVNULL, stderr=theirs)
        os.close(theirs)
        written = b""
        try:
            while part := os.read(ours, 4096):
                written += part
        except OSError:  # the other end is closed
            pass
        os.close(ours)
        self.assertEqual(running.wait(), 0)
        return written

    def test_a_terminal_has_colours_and_progress_where_it_can(self):
        written = self.on_a_terminal()
        self.assertIn(b"\x1b[32minfo", written)
        self.assertIn(b"\x1b[K", written)
        self.assertNotIn(b"\x1b[32m", self.on_a_terminal(NO_COLOR="1"))
        self.assertNotIn(b"\x1b", self.on_a_terminal(TERM="dumb"))


class Untrained(InFolder):
    def test_the_accuracy_of_random_weights_is_said_to_be_that(self):
        said = self.run_mase("test", "jsc-tiny", "jsc").stderr
        self.assertIn("random weights", said)
        self.run_mase("train", "jsc-tiny", "jsc", "--max-epochs", "1", "--project", "p")
        best = "mase_output/p/software/training_ckpts/best.pt"
        self.assertNotIn("random weights", self.run_mase("test", "jsc-tiny", "jsc", "--load", best).stderr)


class Labels(InFolder):
    def test_that_count_from_one_are_warned_about(self):
        (self.cwd / "rows").mkdir()
        write_vector(self.cwd / "rows/x.npy", "<f4", [i % 7 for i in range(480)], "<f", (30, 16))
        for first, said in ((1, "labels are 1 .. 5, and no row has class 0"), (0, "")):
            write_vector(self.cwd / "rows/y.npy", "<i8", [first + i % 5 for i in range(30)], "<q")
            words = ("jsc-tiny", "npy", "--data-dir", "rows", "--max-steps", "1", "--project", f"p{first}", "-q")
            stderr = self.run_mase("train", *words).stderr
            self.assertEqual(stderr.count("no row has class 0"), bool(said))
            self.assertIn(said, stderr)


class Pixels(InFolder):
    def test_are_normalised_by_one_number_or_one_for_each_channel(self):
        (self.cwd / "rows").mkdir()
        write_vector(self.cwd / "rows/x.npy", "|u1", [i % 256 for i in range(640)], "<B", (10, 2, 4, 8))
        hashes = {}
        for text in ("0.5,0.25", "[0.5, 0.25]", " 0.5 , 0.25 ", "0.5", "[0.5]"):
            words = ("data", "npy", "--data-dir", "rows", "--pixel-mean", text, "--json")
            hashes[text] = json.loads(self.run_mase(*words).stdout)["sha256"]
        self.assertEqual(hashes["0.5,0.25"], hashes["[0.5, 0.25]"])
        self.assertEqual(hashes["0.5,0.25"], hashes[" 0.5 , 0.25 "])
        self.assertEqual(hashes["0.5"], hashes["[0.5]"])
        self.assertNotEqual(hashes["0.5"], hashes["0.5,0.25"])
        for text, said in (("0.5,b", "'pixel_mean' must be a number, got string"), ("1,2,3", "has 3 numbers")):
            result = self.run_mase("data", "npy", "--data-dir", "rows", "--pixel-mean", text, code=2)
            self.assertIn(said, result.stderr)

    def test_of_a_byte_each_are_warned_about(self):
        (self.cwd / "rows").mkdir()
        write_vector(self.cwd / "rows/y.npy", "<i8", [i % 5 for i in range(30)], "<q")
        for greatest, said in ((250, "x.npy: the values are uint8 and are fed as 0 .. 250"), (1, "")):
            values = [i % (greatest + 1) for i in range(480)]
            write_vector(self.cwd / "rows/x.npy", "|u1", values, "<B", (30, 16))
            words = ("jsc-tiny", "npy", "--data-dir", "rows", "--max-steps", "1", "--project", f"p{greatest}", "-q")
            stderr = self.run_mase("train", *words).stderr
            self.assertEqual(stderr.count("are uint8"), bool(said))
            self.assertIn(said, stderr)


class DataOfACheckpoint(InFolder):
    ROWS = ("npy", "--data-dir", "rows", "--pixel-scale", "0.01", "--split-seed", "3")

    def setUp(self):
        super().setUp()
        (self.cwd / "rows").mkdir()
        write_vector(self.cwd / "rows/x.npy", "|u1", [i * i % 251 for i in range(3200)], "<B", (200, 16))
        write_vector(self.cwd / "rows/y.npy", "<i8", [i % 5 for i in range(200)], "<q")
        self.run_mase("train", "jsc-tiny", *self.ROWS, "--max-epochs", "2", "--project", "p", "-q")
        self.expected = self.scores(*self.ROWS)

    def scores(self, *options, model="mase_output/p"):
        return json.loads(self.run_mase("test", model, *options, "--json").stdout)["scores"]

    def test_is_read_as_it_was_for_training(self):
        self.assertEqual(self.scores(), self.expected)
        self.assertEqual(self.scores("npy", "--data-dir", "./rows"), self.expected)
        said = self.run_mase("test", "mase_output/p").stderr
        self.assertIn('best.pt: dataset = "npy", data_dir = "rows", split_seed = 3, pixel_scale = 0.01\n', said)
        self.assertNotIn("warning", said)
        self.assertNotIn("taken from", self.run_mase("test", "mase_output/p", *self.ROWS).stderr)

    def test_is_remembered_by_a_checkpoint_that_was_made_without(self):
        (self.cwd / "t.toml").write_text('model = "mase_output/p"\n[passes.remove_dropout]\n')
        self.run_mase("transform", "--config", "t.toml", "--project", "q")
        self.assertEqual(self.scores("--level", "float", model="mase_output/q"), self.expected)

    def test_warns_of_settings_that_make_other_numbers(self):
        command = ("test", "mase_output/p", *self.ROWS[:3], "--pixel-scale", "1", "--split-seed", "3")
        said = self.run_mase(*command).stderr
        self.assertIn("was made with pixel_scale = 0.01; this command reads rows with pixel_scale = 1.0,", said)
        self.assertNotEqual(self.scores(*command[2:])["loss"], self.expected["loss"])
        said = self.run_mase("test", "mase_output/p", "jsc").stderr
        self.assertIn("made on data set npy with pixel_scale = 0.01; data set jsc is read without", said)

    def test_serves_the_comparison_of_two_checkpoints(self):
        other = (*self.ROWS[:4], "1", *self.ROWS[5:])
        self.run_mase("train", "jsc-tiny", *other, "--max-epochs", "1", "--project", "q", "-q")
        words = ("diff", "mase_output/p", "mase_output/q", "--dataset", "npy", "--json")
        said = self.run_mase(*words, code=1).stderr
        self.assertIn("q/software/training_ckpts/best.pt was made with pixel_scale = 1.0; this", said)
        made = json.loads(self.run_mase(*words, code=1).stdout)
        self.assertAlmostEqual(made["loss"]["first"], self.expected["loss"], delta=1e-6)
        made = json.loads(self.run_mase(*words, "--data-dir", "rows", "--pixel-scale", "1", code=1).stdout)
        self.assertNotAlmostEqual(made["loss"]["first"], self.expected["loss"], delta=1e-3)

    def test_is_compared_with_that_of_a_teacher(self):
        words = ("train", "mase_output/p", *self.ROWS[:4], "1", *self.ROWS[5:], "--teacher", "mase_output/p")
        said = self.run_mase(*words, "--max-steps", "1", "--project", "t").stderr
        self.assertEqual(said.count("was made with pixel_scale = 0.01; this command reads rows with"), 2)
        words = ("train", "mase_output/p", *self.ROWS[:3], "--teacher", "mase_output/p")
        said = self.run_mase(*words, "--max-steps", "1", "--project", "u").stderr
        self.assertNotIn("was made with", said)

    def test_a_command_that_needs_rows_names_those_of_the_checkpoint(self):
        said = self.run_mase("train", "mase_output/p", code=2).stderr
        self.assertIn("no data set given: name one (`mase list datasets`) as DATASET or --dataset; mase_output/p", said)
        self.assertIn("best.pt was made on npy", said)

    def test_that_is_gone_is_an_error_and_may_have_moved(self):
        (self.cwd / "rows").rename(self.cwd / "moved")
        said = self.run_mase("test", "mase_output/p", code=3).stderr
        self.assertIn("made on data set npy in rows, which is not there; --data-dir DIR says", said)
        self.assertEqual(self.scores("--data-dir", "moved"), self.expected)


class WhatIsInASet(InFolder):
    def test_the_digits_are_counted_as_published_and_drawn(self):
        told = json.loads(self.run_mase("data", "mnist", "--picture", "digits.png", "--json").stdout)
        # The counts of the 60,000 and the 10,000 rows together, as published for each digit.
        counts = [6903, 7877, 6990, 7141, 6824, 6313, 6876, 7293, 6825, 6958]
        self.assertEqual([entry["rows"] for entry in told["targets"][0]["classes"].values()], counts)
        self.assertEqual(told["inputs"][0]["shape"], [70000, 1, 28, 28])
        self.assertEqual((told["inputs"][0]["min"], told["inputs"][0]["max"]), (0, 255))
        self.assertEqual((told["inputs"][0]["fed_min"], told["inputs"][0]["fed_max"]), (0, 1))
        self.assertEqual([sample["class"] for sample in told["picture"]["samples"]], list("01234567"))
        self.assertEqual((self.cwd / "digits.png").read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
        result = self.run_mase("data", "mnist", "--picture", "digits.png", code=2)
        self.assertIn("digits.png already exists; --overwrite replaces it", result.stderr)
        self.run_mase("data", "mnist", "--picture", "digits.png", "--overwrite")

    def test_every_set_that_is_here_can_be_shown(self):
        for name in ("jsc", "toy-tiny", "toy-tokens", "text"):
            told = self.run_mase("data", name)
            self.assertEqual(told.stderr, "")
            self.assertIn("| train |", told.stdout)

    def test_classes_without_rows_are_warned_about_and_sets_need_no_labels(self):
        write_vector(self.cwd / "x.npy", "<f4", range(60), "<f", (20, 3))
        told = self.run_mase("data", "npy", "--data-dir", ".")
        self.assertIn("there are no labels", told.stdout)
        self.assertIn("[20, 3]", told.stdout)
        write_vector(self.cwd / "y.npy", "<i8", [0, 3] * 10, "<q")
        stderr = self.run_mase("data", "npy", "--data-dir", ".").stderr
        self.assertIn("2 of 4 classes have no row: 1, 2", stderr)

    def test_images_that_do_not_fit_memory_are_shown_as_those_that_do(self):
        def chunk(kind, data):
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

        for i in range(30):
            path = self.cwd / "photos" / f"class{i % 3}" / f"{i}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            lines = b"".join(b"\0" + bytes((i * 7 + x + y) % 256 for x in range(24)) for y in range(4))
            header = struct.pack(">IIBBBBB", 8, 4, 8, 2, 0, 0, 0)
            parts = ((b"IHDR", header), (b"IDAT", zlib.compress(lines)), (b"IEND", b""))
            path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in parts))
        told = {}
        for memory in ("NA", "0"):
            words = ("data", "images", "--data-dir", "photos", "--picture", f"{memory}.png", "--num-workers", "3")
            result = self.run_mase(*words, "--image-memory", memory, "--json")
            self.assertEqual("each batch is decoded anew" in result.stderr, memory == "0")
            told[memory] = json.loads(result.stdout)
            del told[memory]["picture"]
        self.assertEqual(told["0"], told["NA"])
        self.assertEqual(told["0"]["inputs"][0]["shape"], [30, 3, 4, 8])
        self.assertEqual((self.cwd / "0.png").read_bytes(), (self.cwd / "NA.png").read_bytes())

    def test_columns_of_a_table_are_targets_side_by_side_or_of_their_own(self):
        lines = [f"{i},{i / 4},{'xy'[i % 2]},{'' if i == 5 else i}" for i in range(20)]
        self.write("t.csv", "a,price,kind,b\n" + "\n".join(lines))
        words = ("data", "csv", "--data-dir", "t.csv", "--missing-value", "0,-1", "--json")
        told = json.loads(self.run_mase(*words, "--label-column", "kind,price").stdout)
        self.assertEqual([target["name"] for target in told["targets"]], ["y_kind", "y_price"])
        self.assertEqual(told["targets"][1]["max"], 4.75)
        self.assertEqual(told["inputs"][0]["min"], -1)
        self.assertIn("missing_value has 2 numbers", self.run_mase(*words, "--label-column", "b", code=2).stderr)

    def test_a_set_that_has_no_images_writes_no_picture(self):
        result = self.run_mase("data", "jsc", "--picture", "jets.png", code=2)
        self.assertIn("x has shape [1000, 16]; leave out the picture", result.stderr)
        self.assertFalse((self.cwd / "jets.png").exists())


class RowsOfTheUser(InFolder):
    def test_init_writes_a_file_that_reads_them(self):
        (self.cwd / "rows").mkdir()
        write_vector(self.cwd / "rows/x.npy", "<f4", [i % 7 for i in range(480)], "<f", (30, 16))
        write_vector(self.cwd / "rows/y.npy", "<i8", [i % 5 for i in range(30)], "<q")
        self.run_mase("init", "jsc-tiny", "npy", "--data-dir", "rows", "-o", "made.toml")
        self.run_mase("transform", "--config", "made.toml", "--project", "p", "-q")


class ModelBesideItsConfiguration(InFolder):
    def test_is_found_from_elsewhere_and_else_where_the_program_runs(self):
        (self.cwd / "a").mkdir()
        model = SOURCE / "tests/fixtures/models/jsc_tiny/jsc_tiny.script.pt"
        (self.cwd / "a/own.pt").write_bytes(model.read_bytes())
        (self.cwd / "other.pt").write_bytes(model.read_bytes())
        for name in ("own.pt", "other.pt"):
            self.write("a/c.toml", f'model = "{name}"\ndataset = "jsc"\n[passes.count_dropout]\n')
            self.run_mase("transform", "--config", "a/c.toml", "--project", name, "-q")


class Words(InFolder):
    def test_quiet_commands_say_nothing_but_results_and_warnings(self):
        words = ("train", "jsc-tiny", "jsc", "--max-steps", "1", "--project", "p")
        self.assertEqual(self.run_mase(*words, "-q").stderr, "")
        self.assertIn("info: loading model", self.run_mase(*words, "--overwrite").stderr)

    def test_help_is_what_the_program_alone_prints(self):
        self.assertEqual(self.run_mase().stdout, self.run_mase("--help").stdout)

    def test_words_of_others_are_answered_in_ours(self):
        said = self.run_mase("train", "jsc-tiny", "jsc", "--epochs", "3", code=2).stderr
        self.assertIn("here it is '--max-epochs'", said)
        self.write("p.toml", 'model = "jsc-tiny"\n[passes.prune]\n[passes.conv_bn_fusion]\n[passes.onnxruntime]\n')
        said = self.run_mase("transform", "--config", "p.toml", code=2).stderr
        for words in ("nothing prunes weights here", "here it is 'fuse_batch_norm'", "there is no ONNX here"):
            self.assertIn(words, said)

    def test_the_style_module_is_read_and_told(self):
        self.write("m.toml", 'model = "jsc-tiny"\n[transform]\nstyle = "module"\n[passes.count_dropout]\n')
        said = self.run_mase("transform", "--config", "m.toml", "--project", "p", "-q").stderr
        self.assertIn('m.toml:3:9: style = "module" has no effect: passes always work on the graph', said)

    def test_what_cannot_be_written_is_refused(self):
        self.assertIn("use .svg, .png or .pdf", self.run_mase("show", "jsc-tiny", "-o", "x.jpg", code=2).stderr)

    def test_emit_of_a_float_model_says_how_it_is_quantized(self):
        model = SOURCE / "tests/fixtures/models/jsc_tiny/jsc_tiny.script.pt"
        self.assertIn("mase init", self.run_mase("emit", model, code=3).stderr)


class Loading(InFolder):
    def trained(self, model):
        self.run_mase("train", model, "jsc", "--max-epochs", "1", "--project", model, "-q")
        return f"mase_output/{model}/software/training_ckpts/best.pt"

    def test_a_checkpoint_of_another_model_is_refused_with_what_differs(self):
        best = self.trained("jsc-toy")
        said = self.run_mase("test", "jsc-tiny", "jsc", "--load", best, code=2).stderr
        self.assertIn("different: seq_blocks.2.weight is float32[8, 16] in the file and float32[5, 16]", said)
        self.assertIn("not in the model: seq_blocks.3.weight float32[8]", said)
        self.run_mase("test", best, "jsc")

    def test_of_a_transformed_checkpoint_its_name_and_results_decide(self):
        best = self.trained("jsc-tiny")
        place = ("--project-dir", ".", "--project", "p", "-q")
        self.write("q.toml", "[passes.fuse_batch_norm]\n")
        self.run_mase("transform", "jsc-tiny", "jsc", "--load", best, "--config", "q.toml", *place)
        checkpoint = "p/software/transform/transformed_ckpt/graph_module.pt"
        self.run_mase("test", "jsc-tiny", "jsc", "--load", checkpoint)
        said = self.run_mase("test", "jsc-mlp", "jsc", "--load", checkpoint, code=2).stderr
        self.assertIn("it was made from 'jsc-tiny'", said)

    def test_a_checkpoint_is_tested_in_its_project(self):
        best = self.trained("jsc-tiny")
        self.run_mase("test", best, "jsc")
        self.run_mase("test", "jsc-tiny", "jsc", "--load", best, "--split", "train")
        records = [path.name for path in (self.cwd / "mase_output/jsc-tiny/records").glob("test_*")]
        self.assertEqual(sorted(records), ["test_test_float.json", "test_train_float.json"])
        self.assertEqual([path.name for path in (self.cwd / "mase_output").iterdir()], ["jsc-tiny"])

    def test_a_project_stands_for_its_newest_checkpoint_and_results_join_it(self):
        best = self.trained("jsc-tiny")
        project = "mase_output/jsc-tiny"
        record = json.loads(self.run_mase("test", project, "jsc", "--json").stdout)
        self.assertEqual(record["settings"]["model"], best)
        self.write(
            "q.toml",
            "[passes.fuse_batch_norm]\n[passes.quantize]\nby = 'type'\n[passes.quantize.linear.config]\nname = 'mxint8'\n",
        )
        self.run_mase("transform", project, "jsc", "--config", "q.toml", "--project", "jsc-tiny")
        transformed = f"{project}/software/transform/transformed_ckpt/graph_module.pt"
        record = json.loads(self.run_mase("test", f"{project}/", "jsc", "--json").stdout)
        self.assertEqual(record["settings"]["model"], transformed)
        loaded = json.loads(self.run_mase("test", "jsc-tiny", "jsc", "--load", project, "--json").stdout)
        self.assertEqual(loaded["settings"]["load_name"], best, "the weights that training left")
        self.assertEqual([path.name for path in (self.cwd / "mase_output").iterdir()], ["jsc-tiny"])
        (self.cwd / "empty/software").mkdir(parents=True)
        said = self.run_mase("emit", ".", code=3).stderr
        self.assertIn(".: a folder, but no project's; give the project of a mase transform, or its checkpoint", said)
        self.assertIn("(PROJECT/software/transform/transformed_ckpt/graph_module.pt)", said)
        said = self.run_mase("test", "empty", "jsc", code=3).stderr
        self.assertIn("empty: a project without a checkpoint; mase train and mase transform write one there", said)

    def test_a_folder_of_its_name_hides_no_model(self):
        (self.cwd / "jsc-tiny").mkdir()
        self.run_mase("show", "jsc-tiny")


class SharedMemory(InFolder):
    def test_a_buffer_that_is_a_part_of_a_parameter_is_told(self):
        model = SOURCE / "tests/fixtures/tied/view.script.pt"
        said = self.run_mase("show", model, "--input-shape", "2,4").stderr
        self.assertIn("'layer.weight' shares memory with 'row'", said)
        tied = SOURCE / "tests/fixtures/tied/tied.script.pt"
        self.assertEqual(self.run_mase("show", tied, "--input", SOURCE / "tests/fixtures/tied/tokens.npy").stderr, "")


class Precedence(InFolder):
    def settings(self, *arguments):
        self.write("p.toml", 'model = "jsc-tiny"\nseed = 42\nbatch_size = 512\n[passes.count_dropout]\n')
        output = self.run_mase("transform", "--config", "p.toml", "--dry-run", "--json", *arguments).stdout
        return json.loads(output)["settings"]

    def test_the_file_wins_over_the_default(self):
        self.assertEqual(self.settings()["seed"], 42)

    def test_the_command_line_wins_by_presence_even_with_the_default_value(self):
        self.assertEqual(self.settings("--seed", "0", "--batch-size=128")["seed"], 0)
        self.assertEqual(self.settings("--batch-size=128")["batch_size"], 128)


class ExampleInputs(InFolder):
    model = "tests/fixtures/models/bert_tiny/bert_tiny.trace.pt"

    def test_token_ids_are_made_in_their_range(self):
        for shape in ("2,12:int64:0..30", "2,12:int64"):
            self.run_mase("show", SOURCE / self.model, "--input-shape", shape, "--input-shape", "2,12:int64:1..2")

    def test_what_is_wrong_with_a_shape_is_said(self):
        for shape, word in (
            ("2,x", "sizes must be positive"),
            ("2,0", "sizes must be positive"),
            ("2:int65", "int65"),
            ("2:int64:5", "LOW..HIGH"),
            ("2:int64:5..5", "LOW below HIGH"),
            ("2:int8:0..300", "does not fit"),
            ("2:int8:0..3:4", "too many parts"),
        ):
            result = self.run_mase("show", SOURCE / self.model, "--input-shape", shape, code=2)
            self.assertIn(word, result.stderr, shape)

    def test_doubles_are_named(self):
        model = SOURCE / "tests/fixtures/models/jsc_tiny/jsc_tiny.script.pt"
        result = self.run_mase("show", model, "--input-shape", "4,16:float64:-1..1", code=3)
        self.assertIn("float64, numpy's default", result.stderr)

    def test_inputs_are_chosen_by_name(self):
        folder = SOURCE / "tests/fixtures/models/two_inputs"
        model, first, second = folder / "two_inputs.script.pt", folder / "input_0.npy", folder / "input_1.npy"
        self.run_mase("run", model, "--input", first, "--input", second, "--output", "ordered.npy")
        by_name = ("--input", f"context={second}", "--input", f"features={first}")
        self.run_mase("run", model, *by_name, "--output", "named.npy")
        self.assertEqual((self.cwd / "ordered.npy").read_bytes(), (self.cwd / "named.npy").read_bytes())
        for words, said in (
            (("--input", f"contxt={second}"), "did you mean 'context'?"),
            ((*by_name, "--input", f"context={second}"), "given twice"),
            (("--input", first, "--input", f"context={second}"), "give all as NAME=..."),
        ):
            self.assertIn(said, self.run_mase("show", model, *words, code=2).stderr)
        missing = self.run_mase("show", model, "--input", f"context={second}", code=3)
        self.assertIn("no example input for the model's argument 'features'", missing.stderr)

    def test_arguments_are_fixed_on_the_command_line(self):
        model = SOURCE / "tests/fixtures/programs/Options.pt"
        shown = self.run_mase("show", model, "--input-shape", "x=2,3,4").stdout
        self.assertIn("other=2.0", shown)
        self.assertNotIn("aten::neg", shown)
        fixed = ("--fix", "scale=0.5", "--fix", "negate=true")
        shown = self.run_mase("show", model, "--input-shape", "2,3,4", *fixed).stdout
        self.assertIn("other=0.5", shown)
        self.assertIn("aten::neg", shown)
        self.write("c.toml", "[cf_args]\nscale = 3.0\nnegate = true\n[passes.report_graph]\n")
        shown = self.run_mase(
            *("transform", model, "--input-shape", "2,3,4", "--config", "c.toml", "--dump-after", "all", "dumps"),
            *("--fix", "scale=0.5", "--project", "p", "-q"),
        )
        dump = "".join(path.read_text() for path in (self.cwd / "dumps").iterdir())
        self.assertIn("other=0.5", dump)
        self.assertIn("aten::neg", dump)
        for words, code, said in (
            (("--fix", "scale"), 2, "expected NAME=VALUE"),
            (("--fix", "scale=1", "--fix", "scale=2"), 2, "fixed twice"),
            (("--fix", "scael=1"), 2, "no argument 'scael'"),
        ):
            self.assertIn(said, self.run_mase("show", model, "--input-shape", "2,3,4", *words, code=code).stderr)
        refused = self.run_mase("show", "jsc-tiny", "--fix", "x=1", code=2)
        self.assertIn("--fix: jsc-tiny is a built-in model", refused.stderr)

    def test_what_a_model_keeps_is_an_input_and_a_result(self):
        folder = SOURCE / "tests/fixtures/programs"
        model, x = str(folder / "Remembers.pt"), f"x={folder / 'example.npy'}"
        first = self.run_mase("run", model, "--input", x, "--output", "first.npy")
        self.assertEqual(first.stderr.count("becomes inputs and results: hidden float32[2, 2], mean"), 1)
        state = ("--input", "mean=first_mean.npy", "--input", "hidden=first_hidden.npy")
        self.run_mase("run", model, "--input", x, *state, "--output", "second.npy")
        self.write("c.toml", '[[pass]]\nrun = "remove_dropout"\n')
        project = ("--project-dir", "out", "--project", "p", "-q")
        self.run_mase("transform", model, "--input", x, "--config", "c.toml", *project)
        checkpoint = "out/p/software/transform/transformed_ckpt/graph_module.pt"
        self.run_mase("run", checkpoint, "--input", x, *state, "--output", "again.npy")
        begun = self.run_mase("run", checkpoint, "--input", x, "--output", "begun.npy")
        self.assertEqual(begun.stderr.count("the state of the model begins"), 1)
        self.assertIn("begins with the values in the checkpoint: hidden, mean (--input NAME=FILE.npy", begun.stderr)
        none = self.run_mase("run", checkpoint, "--input", "hidden=first_hidden.npy", "--output", "z.npy", code=2)
        self.assertIn("the model takes x, hidden, mean; no values were given for x", none.stderr)
        named = (("first", "first"), ("second", "second"), ("second", "again"), ("first", "begun"))
        for run, name in named:
            stored, made = (
                struct.unpack("<4f", path.read_bytes()[-16:])
                for path in (folder / f"Remembers_{run}.npy", self.cwd / f"{name}_output.npy")
            )
            for a, b in zip(stored, made):
                self.assertAlmostEqual(a, b, places=6)

    def test_init_gives_a_norm_that_is_written_out_the_bits_of_its_squares(self):
        model = str(SOURCE / "tests/fixtures/programs/TracedNorm.pt")
        # The squares of the small rows are a 1600th of those of the large ones: no step of 8 bits.
        values = [((7 * i) % 13 - 6) / 6 * (0.1, 4.0)[i // 4 % 2] for i in range(96)]
        write_vector(self.cwd / "x.npy", "<f4", values, "<f", (8, 3, 4))
        self.run_mase("init", model, "--input", "x.npy", "-o", "made.toml")
        made = tomllib.loads((self.cwd / "made.toml").read_text())["pass"]
        kinds, single = [table for table in made if table["run"] == "quantize"]
        widths = [kinds[op]["config"]["data_in_width"] for op in ("pow", "mean", "rsqrt", "mul", "add", "linear")]
        self.assertEqual(widths, [8, 16, 12, 8, 8, 8])
        self.assertEqual({name for name in single if name not in ("run", "by")}, {"add"})
        self.assertEqual(single["add"]["config"]["data_in_width"], 16)
        project = ("--project-dir", "out", "--project", "p", "-q")
        self.run_mase("transform", "--config", "made.toml", "--input", "x.npy", *project)
        checkpoint = "out/p/software/transform/transformed_ckpt/graph_module.pt"
        self.run_mase("run", model, "--input", "x.npy", "--output", "float.npy")
        self.run_mase("run", checkpoint, "--level", "integer", "--input", "x.npy", "--output", "integer.npy")
        exact, ours = (struct.unpack("<96f", (self.cwd / f"{n}.npy").read_bytes()[-384:]) for n in ("float", "integer"))
        noise = sum((a - b) ** 2 for a, b in zip(exact, ours))
        # Below 10 where the small rows are divided by the root of 0.
        self.assertGreater(10 * math.log10(sum(a * a for a in exact) / noise), 15)

    def test_every_batch_of_a_data_set_begins_as_the_model_does(self):
        model = str(SOURCE / "tests/fixtures/programs/Remembers.pt")
        (self.cwd / "rows").mkdir()
        row = [0.1 * i for i in range(12)]  # all rows are alike, so that every batch is
        for name, rows in (("pair.npy", 2), ("rows/x.npy", 20)):
            write_vector(self.cwd / name, "<f4", row * rows, "<f", (rows, 3, 4))
        write_vector(self.cwd / "rows/y.npy", "<i8", [1] * 20, "<q")
        self.write("c.toml", '[[pass]]\nrun = "remove_dropout"\n')
        project = ("--project-dir", "out", "--project", "p", "-q")
        self.run_mase("transform", model, "--input", "pair.npy", "--config", "c.toml", *project)
        self.run_mase("run", model, "--input", "pair.npy", "--output", "y.npy")
        zero, one = struct.unpack("<2f", (self.cwd / "y_output.npy").read_bytes()[-8:])
        checkpoint = "out/p/software/transform/transformed_ckpt/graph_module.pt"
        words = (checkpoint, "npy", "--data-dir", "rows", "--split", "train", "--json")
        scores = json.loads(self.run_mase("test", *words, "--batch-size", "2", "--rows", "6").stdout)["scores"]
        self.assertAlmostEqual(scores["loss"], math.log(1 + math.exp(zero - one)), places=5)
        refused = self.run_mase("test", *words, "--rows", "6", "--batch-size", "3", code=2).stderr
        self.assertIn("'mean', which the model keeps from run to run, begins as [3, 4]", refused)
        self.assertIn("for batches of 2 rows, and one has 3; import the model with one row", refused)

    def test_a_part_of_a_file_in_float32(self):
        model = str(SOURCE / "tests/fixtures/programs/Brain.pt")
        header = b"{'descr': '<V2', 'fortran_order': False, 'shape': (1, 4), }"
        header += b" " * (117 - len(header)) + b"\n"
        (self.cwd / "x.npy").write_bytes(b"\x93NUMPY\x01\x00v\x00" + header + b"\x80\x3f" * 4)  # ones
        inputs = ("--input", "x.npy")
        made = self.run_mase("init", model, *inputs, "--submodule", "linear", "-o", "c.toml")
        self.assertEqual(made.stderr.count("become float32, as with model.float()"), 1)
        self.assertIn('submodule = "linear"\n', (self.cwd / "c.toml").read_text(encoding="utf-8"))
        project = ("--project-dir", "out", "--project", "p", "-q")
        self.assertNotIn("left in float", self.run_mase("transform", "--config", "c.toml", *inputs, *project).stderr)
        checkpoint = "out/p/software/transform/transformed_ckpt/graph_module.pt"
        shown = self.run_mase("show", checkpoint).stdout
        self.assertIn("weight=integer(8,", shown)
        said = self.run_mase("run", model, *inputs, "--submodule", "lines", "--output", "y.npy", code=2).stderr
        self.assertIn("has no 'lines'; did you mean 'linear'?", said)
        refused = self.run_mase("run", checkpoint, *inputs, "--submodule", "linear", "--output", "y.npy", code=2)
        self.assertIn("is a checkpoint, whose graph is already built", refused.stderr)

    def test_a_layer_of_several_operators_is_a_leaf(self):
        model = SOURCE / "tests/fixtures/programs/Leaves.pt"
        options = ("--leaf-module", "make_programs.Mixed", "--leaf-function", "make_programs.smooth")
        shown = self.run_mase("show", model, "--input-shape", "2,3,4", *options).stdout
        self.assertIn("call_module mixed mase::leaf", shown)
        self.assertIn("call_function make_programs.smooth mase::leaf", shown)
        traced = SOURCE / "tests/fixtures/programs/TracedLeaves.pt"
        refused = self.run_mase("show", traced, "--input-shape", "2,3,4", *options, code=2)
        self.assertIn("a traced model keeps layers, but no functions", refused.stderr)

    def test_leaves_that_the_model_does_not_have_are_refused(self):
        model = SOURCE / "tests/fixtures/models/jsc_tiny/jsc_tiny.script.pt"
        for option in ("--leaf-module", "--leaf-function"):
            result = self.run_mase("show", model, "--input-shape", "4,16", option, "no.such.Thing", code=2)
            self.assertIn("no.such.Thing", result.stderr)
        said = self.run_mase("show", model, "--input-shape", "4,16", "--leaf-module", "Linear", code=2).stderr
        self.assertIn("give the full name of the leaf: 'torch.nn.modules.linear.Linear'", said)


class TextModels(InFolder):
    """A model of token ids and a mask, whose class is whether the first id is above 5."""

    model = "tests/fixtures/programs/TextClassifier.pt"

    def setUp(self):
        super().setUp()
        numbers = random.Random(1)
        rows = [[numbers.randrange(12)] * 5 + [0, 0] for _ in range(300)]
        self.make_rows("rows", rows, [row[0] > 5 for row in rows])

    def make_rows(self, folder, rows, classes):
        (self.cwd / folder).mkdir()
        files = {"x": sum(rows, []), "attention_mask": [1, 1, 1, 1, 1, 0, 0] * len(rows), "y": classes}
        for name, values in files.items():
            shape = (len(rows), 7) if name != "y" else None
            write_vector(self.cwd / folder / f"{name}.npy", "<i8", values, "<q", shape)

    def options(self, folder="rows"):
        return "npy", "--data-dir", folder, "-q"

    def accuracy(self, checkpoint):
        """The share of test rows that are right."""
        return json.loads(self.run_mase("test", checkpoint, *self.options(), "--json").stdout)["scores"]["accuracy"]

    def test_they_train_transform_test_and_search(self):
        rate = ("--learning-rate", "0.05", "--batch-size", "16", "--seed", "1")
        self.run_mase("train", SOURCE / self.model, *self.options(), "--project", "t", "--max-epochs", "12", *rate)
        best = "mase_output/t/software/training_ckpts/best.pt"
        self.assertGreater(self.accuracy(best), 0.9)  # chance is 0.5
        self.write(
            "q.toml",
            "[passes.quantize]\nby = 'type'\ncalibration = 'mse'\n[passes.quantize.linear.config]\n"
            "name = 'integer'\ndata_in_width = 8\ndata_in_frac_width = 'auto'\nweight_width = 8\n"
            "weight_frac_width = 'auto'\n",
        )
        self.run_mase("transform", best, *self.options(), "--config", "q.toml", "--project", "q")
        checkpoint = "mase_output/q/software/transform/transformed_ckpt/graph_module.pt"
        self.assertGreater(self.accuracy(checkpoint), 0.9)
        self.write(
            "s.toml",
            "[search.search_space]\nname = 'graph/quantize/mixed_precision_ptq'\n"
            "[search.search_space.setup]\nby = 'type'\n"
            "[search.search_space.seed.default.config]\nname = ['NA']\n"
            "[search.search_space.seed.linear.config]\nname = ['integer']\ndata_in_width = [2, 8]\n"
            "data_in_frac_width = ['auto']\nweight_width = [2, 8]\nweight_frac_width = ['auto']\n"
            "[search.strategy]\nname = 'optuna'\n"
            "[search.strategy.sw_runner.basic_evaluation]\ndata_loader = 'val_dataloader'\n"
            "[search.strategy.setup]\nn_trials = 4\nsampler = 'random'\n"
            "[search.strategy.metrics]\naccuracy.direction = 'maximize'\n",
        )
        done = self.run_mase("search", best, *self.options(), "--config", "s.toml", "--project", "s", "--json")
        self.assertTrue(all(point["value"][0] > 0.9 for point in json.loads(done.stdout)["best"].values()))

    def test_what_does_not_fit_is_said_with_its_file(self):
        write_vector(self.cwd / "ids.npy", "<f4", [1] * 14, "<f", (2, 7))
        write_vector(self.cwd / "wide.npy", "<i8", [99] * 14, "<q", (2, 7))
        write_vector(self.cwd / "mask.npy", "<i8", [1] * 14, "<q", (2, 7))
        for ids, words in (
            ("ids.npy", "takes ids of int64 or int32, given float32[2, 7]"),
            ("wide.npy", "takes ids from 0 to 11, given 99 to 99"),
        ):
            inputs = ("--input", ids, "--input", "mask.npy")
            said = self.run_mase("run", SOURCE / self.model, *inputs, "--output", "o.npy", code=3).stderr
            self.assertIn(words, said)
            self.assertIn(f"input_ids {'float32' if ids == 'ids.npy' else 'int64'}[2, 7] ({ids})", said)
        said = self.run_mase("train", "lenet", *self.options(), code=2).stderr
        self.assertIn("2 inputs per row", said)
        (self.cwd / "rows/attention_mask.npy").rename(self.cwd / "rows/attention_mas.npy")
        said = self.run_mase("train", SOURCE / self.model, *self.options(), code=2).stderr
        self.assertIn("did you mean 'attention_mask'?", said)


class TablesOfTexts(InFolder):
    def test_texts_with_classes_feed_a_model_of_tokens(self):
        lines = [{"review": f'the "plot",\n {i}', "mood": ("bad", "good")[i % 2]} for i in range(40)]
        self.write("r.jsonl", "\n".join(map(json.dumps, lines)))
        rows = "".join(f'"the ""plot"",\n {i}",{line["mood"]}\n' for i, line in enumerate(lines))
        self.write("r.csv", "review,mood\n" + rows)
        options = ("--text-column", "review", "--label-column", "mood", "--max-token-len", "16")
        told = [
            json.loads(self.run_mase("data", "text", "--data-dir", name, "--json", *options).stdout)
            for name in ("r.jsonl", "r.csv")
        ]
        self.assertEqual(told[0], told[1])
        self.assertEqual(list(told[0]["targets"][0]["classes"]), ["bad", "good"])
        self.assertEqual([entry["name"] for entry in told[0]["inputs"]], ["x", "attention_mask"])
        tested = self.run_mase("test", "bert-tiny", "text", "--data-dir", "r.csv", *options, "-q")
        self.assertIn(" of 8)", tested.stdout)


class Recurrent(InFolder):
    def test_an_input_of_other_features_is_refused(self):
        # LibTorch runs it, and reads past the weights.
        model = SOURCE / "tests/fixtures/programs/QuantizableRecurrentLayers.trace.pt"
        said = self.run_mase("show", model, "--input-shape", "2,4,6,7", code=3).stderr
        self.assertIn("takes 6 features in the last dimension, given float32[2, 4, 7]", said)

    def test_every_matrix_has_codes_and_hardware_is_refused_by_name(self):
        self.write(
            "q.toml",
            "[passes.quantize.default.config]\nname = 'integer'\n"
            "data_in_width = 8\ndata_in_frac_width = 4\nweight_width = 6\nweight_frac_width = 4\n",
        )
        model, image = (
            SOURCE / "tests/fixtures/programs" / name for name in ("QuantizableRecurrentLayers.script.pt", "image.npy")
        )
        options = ("--config", "q.toml", "--project", "p", "-q")
        self.run_mase("transform", model, "--input", image, *options)
        checkpoint = self.cwd / "mase_output/p/software/transform/transformed_ckpt/graph_module.pt"
        rows = [row for row in info(checkpoint)["quantized_tensors"] if row["node"] == "lstm"]
        # Two levels of two directions.
        for port in ("weight_ih", "weight_hh", "weight_hr"):
            self.assertEqual(sum(row["port"] == port for row in rows), 4)
        self.assertEqual(len({row["file"] for row in rows}), 12)
        refused = self.run_mase("emit", checkpoint, "--project", "p", code=4)
        self.assertIn("lstm", refused.stderr)
        self.assertNotIn("codes", refused.stderr)


class Transform(InFolder):
    def test_the_seeds_command_runs_and_counts_rightly(self):
        (self.cwd / "configs").symlink_to(SOURCE / "configs")
        result = self.run_mase(
            "transform", "--config", "configs/examples/jsc_toy_by_type.toml", "--task", "cls", "--cpu=0", "--json"
        )
        document = json.loads(result.stdout)
        summary = next(p for p in document["passes"] if p["pass"] == "summarize_quantization")
        counts = {name: (c["total"], c["changed"], c["unchanged"]) for name, c in summary["info"]["histogram"].items()}
        self.assertEqual(
            counts,
            {"BatchNorm1d": (1, 0, 1), "Linear": (1, 1, 0), "ReLU": (2, 0, 2), "output": (1, 0, 1), "x": (1, 0, 1)},
        )
        self.assertEqual(document["settings"]["seed"], 42)
        folder = self.cwd / "mase_output/jsc-tiny/software/transform"
        self.assertEqual(
            files_below(folder),
            [
                "quantize/quantize_bits.csv",
                "quantize/quantize_histogram.csv",
                "quantize/quantize_saturation.csv",
                "quantize/quantize_sqnr.csv",
                "quantize/quantize_table.csv",
                "report.txt",
                "transformed_ckpt/config.toml",
                "transformed_ckpt/graph_module.pt",
                "transformed_ckpt/node_meta_param.toml",
            ],
        )

    def test_the_result_stands_in_a_few_lines_and_the_tables_in_a_file(self):
        (self.cwd / "configs").symlink_to(SOURCE / "configs")
        command = ("transform", "--config", "configs/examples/jsc_toy_by_type.toml")
        folder = "mase_output/jsc-tiny/software/transform"
        lines = self.run_mase(*command).stdout.splitlines()
        self.assertLess(len(lines), 10)
        self.assertEqual(
            lines[-2:], [f"details: {folder}/report.txt", f"checkpoint: {folder}/transformed_ckpt/graph_module.pt"]
        )
        [summary] = [line for line in lines if line.startswith("summarize_quantization: ")]
        self.assertIn("1 of 6 nodes changed (1 Linear); weights 8 bits; inputs 8 bits", summary)
        tables = ("Quantized nodes", "Quantized histogram", "Bits per element", "SQNR [dB]")
        report = (self.cwd / folder / "report.txt").read_text(encoding="utf-8")
        verbose = self.run_mase(*command, "-v").stdout
        for title in tables:
            self.assertIn(f"\n{title}\n+-", report)
            self.assertIn(f"\n{title}\n+-", verbose)
            self.assertNotIn(title, lines)
        self.assertIn("Effective", verbose)
        quiet = self.run_mase(*command, "-q").stdout.splitlines()
        self.assertEqual(quiet, [line for line in lines if not line.startswith(("quantize: ", "details: "))])
        self.assertIn("give only one of --quiet", self.run_mase(*command, "-q", "-v", code=2).stderr)

    def test_the_resolved_configuration_gives_the_same_result_again(self):
        (self.cwd / "configs").symlink_to(SOURCE / "configs")
        self.run_mase("transform", "--config", "configs/examples/jsc_toy_by_type.toml")
        folder = self.cwd / "mase_output/jsc-tiny/software/transform/transformed_ckpt"
        first = info(folder / "graph_module.pt")
        (folder / "config.toml").rename(self.cwd / "resolved.toml")
        self.run_mase("transform", "--config", "resolved.toml")
        second = info(folder / "graph_module.pt")
        self.assertEqual(first["configuration"], second["configuration"])
        self.assertEqual(first["tensor_hash"], second["tensor_hash"])

    def test_auto_is_calibrated_on_training_rows_and_reproduced(self):
        config = self.write(
            "auto.toml",
            """# Calibrated fraction widths.
model = "jsc-tiny"
dataset = "jsc"
[passes.quantize]
calibration = "mse"
num_samples = 100
[passes.quantize.linear.config]
name = "integer"
frac_width = "auto"
data_in_width = 6
weight_width = 4
""",
        )
        folder = self.cwd / "out/auto/software/transform"
        place = ("--project-dir", "out", "--project", "auto")
        document = json.loads(self.run_mase("transform", "--config", config, *place, "--json").stdout)
        entries = next(p for p in document["passes"] if p["pass"] == "quantize")["info"]["calibrated"]
        self.assertEqual([(e["port"], e["values"]) for e in entries], [("data_in", 1600), ("weight", 80)])
        first = info(folder / "transformed_ckpt/graph_module.pt")
        self.assertIn('data_in_frac_width = "auto"', first["configuration"])
        (folder / "transformed_ckpt/config.toml").rename(self.cwd / "resolved.toml")
        table = (folder / "calibration.csv").read_text(encoding="utf-8")
        self.run_mase("transform", "--config", "resolved.toml", *place)
        self.assertEqual((folder / "calibration.csv").read_text(encoding="utf-8"), table)
        self.assertEqual(info(folder / "transformed_ckpt/graph_module.pt")["configuration"], first["configuration"])

    def test_a_result_of_other_settings_is_not_replaced_unasked(self):
        config = '[passes.quantize.linear.config]\nname = "integer"\ndata_in_width = {}\n'
        arguments = ("transform", "jsc-tiny", "--project", "p", "-q", "--config")
        result = self.cwd / "mase_output/p/software/transform/transformed_ckpt/graph_module.pt"
        eight = self.write("8.toml", config.format(8))
        self.run_mase(*arguments, eight)
        before = result.read_bytes()
        self.run_mase(*arguments, eight)
        self.assertEqual(result.read_bytes(), before)
        four = self.write("4.toml", config.format(4))
        self.assertIn("--overwrite", self.run_mase(*arguments, four, code=2).stderr)
        self.assertEqual(result.read_bytes(), before)
        self.run_mase(*arguments, four, "--overwrite")
        self.assertNotEqual(result.read_bytes(), before)

    def test_a_configuration_that_says_nothing_is_refused(self):
        for name, text, word in (
            ("empty.toml", "# nothing\n", "has no keys"),
            ("seed.toml", "seed = 1\n", "no passes"),
            ("typo.toml", "[pass.quantize]\n", "[passes.NAME]"),
        ):
            result = self.run_mase("transform", "jsc-tiny", "--config", self.write(name, text), code=2)
            self.assertIn(word, result.stderr)
            self.assertIn(name, result.stderr)
            (self.cwd / name).unlink()
            self.assertEqual(files_below(self.cwd), [])

    def test_auto_without_data_is_refused(self):
        config = self.write(
            "auto.toml",
            """# No data set.
model = "jsc-tiny"
[passes.quantize.linear.config]
name = "integer"
data_in_frac_width = "auto"
""",
        )
        result = self.run_mase("transform", "--config", config, code=2)
        self.assertIn("node 'seq_blocks_2', port data_in: its values can only come from data", result.stderr)
        self.assertIn("mase list datasets", result.stderr)

    def test_pipeline_controls(self):
        self.write(
            "c.toml",
            'model = "jsc-tiny"\ndataset = "jsc"\nproject = "p"\n'
            '[[pass]]\nrun = "remove_dropout"\n[[pass]]\nrun = "count_dropout"\n',
        )
        result = self.run_mase(
            "transform", "--config", "c.toml", "--timing", "--check-numerics", "--dump-after", "all", "dumps"
        )
        self.assertIn("remove_dropout: results changed by at most 0.0", result.stdout)
        self.assertRegex(result.stdout, r"count_dropout: [\d.]+ ms")
        self.assertEqual(files_below(self.cwd / "dumps"), ["01_remove_dropout.graph.txt", "02_count_dropout.graph.txt"])

    def test_a_checkpoint_is_transformed_again_and_tested(self):
        self.write(
            "c.toml",
            'model = "jsc-tiny"\ndataset = "jsc"\nproject = "p"\n[passes.quantize.linear.config]\n'
            'name = "integer"\ndata_in_width = 8\nweight_width = 8\nweight_frac_width = 4\n',
        )
        self.run_mase("transform", "--config", "c.toml")
        checkpoint = "mase_output/p/software/transform/transformed_ckpt/graph_module.pt"
        scores = json.loads(self.run_mase("test", checkpoint, "jsc", "--json").stdout)["scores"]
        self.assertEqual(scores["rows"], 150)
        confusion = scores["confusion"]
        self.assertEqual(sum(sum(row.values()) for row in confusion.values()), 150)
        self.assertEqual(sum(row.get(name, 0) for name, row in confusion.items()), scores["correct"])
        self.run_mase("test", checkpoint, "jsc", "--min-accuracy", "99.9", code=1)
        self.run_mase("transform", checkpoint, "--config", "c.toml", "--project", "again")
        first, again = (
            self.run_mase("show", path).stdout
            for path in (checkpoint, "mase_output/again/software/transform/transformed_ckpt/graph_module.pt")
        )
        self.assertIn("weight=integer(8, 4)", first)
        strip = lambda text: [line for line in text.splitlines() if not line.startswith("  history")]
        self.assertEqual(strip(first), strip(again))
        self.check_diff(checkpoint)
        self.check_export(checkpoint)

    def check_export(self, checkpoint):
        """Values are codes by the format's step; a second export does not write over the first."""
        self.run_mase("export", checkpoint, "weights")
        index = json.loads((self.cwd / "weights/tensors.json").read_text())
        row = next(row for row in index["quantized"] if row["port"] == "weight" and row["format"] == "integer(8, 4)")
        codes = (self.cwd / "weights" / row["codes"]).read_bytes()[-16:]
        signed = [code - 256 if code > 127 else code for code in codes]
        self.assertEqual([code / 16 for code in signed], list(last_floats(self.cwd / "weights" / row["values"])))
        stored = {row["tensor"]: row["file"] for row in index["tensors"]}
        self.assertTrue((self.cwd / "weights" / stored[row["tensor"]]).is_file())
        self.run_mase("export", checkpoint, "weights", code=2)
        self.run_mase("export", checkpoint, "weights", "--overwrite")

    def check_diff(self, checkpoint):
        """A checkpoint beside itself, and beside the float model that it was made of."""
        self.assertIn("0 in nodes, 0 in tensors", self.run_mase("diff", checkpoint, checkpoint).stdout)
        made = self.run_mase("diff", "jsc-tiny", checkpoint, "--dataset", "jsc", "--json", code=1)
        found = json.loads(made.stdout)
        formats = [row for row in found["nodes"] if row["what"] == "format of weight"]
        self.assertTrue(formats and all((row["first"], row["second"]) == ("-", "integer(8, 4)") for row in formats))
        self.assertEqual(found["accuracy"]["rows"], 150)
        self.assertEqual(found["tensors"], [])

    def transformed(self, project, *arguments):
        """The checkpoint that a configuration gives."""
        self.run_mase("transform", "--project", project, *arguments)
        return self.cwd / f"mase_output/{project}/software/transform/transformed_ckpt/graph_module.pt"

    def test_codes_alone_make_a_small_checkpoint_with_the_same_bits(self):
        for width in (8, 4):
            lines = ['model = "cnv"']
            for op in ("conv2d", "linear"):
                lines += [f"[passes.quantize.{op}.config]", 'name = "integer"']
                lines += [f"{port}_width = {width}" for port in ("data_in", "weight", "bias")]
                lines += [f"{port}_frac_width = {width - 1}" for port in ("weight", "bias")]
            self.write(f"q{width}.toml", "\n".join(lines))
        self.write("float.toml", 'model = "cnv"\n[passes.count_dropout]\n')
        size = self.transformed("float", "--config", "float.toml").stat().st_size
        for width, most in ((8, 0.27), (4, 0.15)):
            arguments = ("--config", f"q{width}.toml")
            floats = self.transformed(f"f{width}", *arguments)
            codes = self.transformed(f"c{width}", *arguments, "--codes-only")
            self.assertLess(codes.stat().st_size, most * size)
            self.assertGreater(floats.stat().st_size, size)
            self.check_same(floats, codes)

    def check_same(self, floats, codes):
        """Two checkpoints give the same results, values of ports and codes; the second is written again alike."""
        write_vector(self.cwd / "x.npy", "<f4", [(i * 37 % 101) / 50 - 1 for i in range(6144)], "<f", (2, 3, 32, 32))
        for path in (floats, codes):
            output = path.parent / "y.npy"
            self.run_mase("run", path, "--input", "x.npy", "--level", "quantized", "--output", output)
            self.run_mase("export", path, path.parent / "weights")
        self.assertEqual(*((path.parent / "y.npy").read_bytes() for path in (floats, codes)))
        rows = json.loads((codes.parent / "weights/tensors.json").read_text())["quantized"]
        self.assertGreater(len(rows), 8)
        for name in (row[key] for row in rows for key in ("values", "codes")):
            self.assertEqual(*((path.parent / "weights" / name).read_bytes() for path in (floats, codes)))
        self.assertIn("0 in nodes", self.run_mase("diff", floats, codes, code=1).stdout)
        self.write("again.toml", f'model = "{codes}"\ncodes_only = true\n[passes.count_dropout]\n')
        again = self.transformed("again", "--config", "again.toml", "--overwrite")
        self.assertIn("0 in nodes, 0 in tensors", self.run_mase("diff", codes, again).stdout)


def last_floats(path, count=16):
    """The last float32 numbers of a .npy file."""
    return struct.unpack(f"<{count}f", path.read_bytes()[-4 * count :])


def write_vector(path, descr, values, code, shape=None):
    """An .npy file of one dimension or `shape`; `code` is that of struct for one element, with the byte order."""
    shape = shape or (len(values),)
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    data = b"".join(struct.pack(code, value) for value in values)
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


class RunAndQuantize(InFolder):
    def test_run_writes_one_file_per_result(self):
        models = SOURCE / "tests/fixtures/models"
        self.run_mase(
            "run",
            models / "dict_output/dict_output.script.pt",
            "--input",
            models / "dict_output/inputs.npy",
            "--output",
            "y.npy",
        )
        self.assertEqual(files_below(self.cwd), ["y_boxes.npy", "y_features.npy", "y_logits.npy"])
        for key in ("boxes", "features", "logits"):
            # Last bits depend on the processor; tests/torch/import compares them with stock LibTorch here.
            for ours, stored in zip(
                last_floats(self.cwd / f"y_{key}.npy"),
                last_floats(models / f"dict_output/output_{key}.npy"),
                strict=True,
            ):
                self.assertAlmostEqual(ours, stored, delta=1e-5)

    def test_time_and_memory_can_be_limited(self):
        model = SOURCE / "tests/fixtures/models/jsc_s/jsc_s.script.pt"
        slow = self.run_mase("show", model, "--input-shape", "4,16", "--max-seconds", "0.001", code=3)
        self.assertIn("the time limit of --max-seconds has passed", slow.stderr)
        self.run_mase("show", model, "--input-shape", "4,16", "--max-seconds", "3600", "--max-memory", "4")
        large = self.run_mase("show", model, "--input-shape", "10000000,16", "--max-memory", "0.5", code=3)
        self.assertIn("memory", large.stderr)
        self.run_mase("show", model, "--input-shape", "4,16", "--max-memory", "0", code=2)

    def test_a_data_dependent_model_is_refused_with_4_and_its_place(self):
        models = SOURCE / "tests/fixtures/models/data_dependent"
        result = self.run_mase(
            "run", models / "data_dependent.script.pt", "--input", models / "inputs.npy", "--output", "y.npy", code=4
        )
        self.assertIn("fixture_nets.py", result.stderr)
        self.assertEqual(files_below(self.cwd), [])

    def test_quantize_writes_values_and_codes(self):
        source = SOURCE / "tests/fixtures/models/jsc_s/inputs.npy"
        self.run_mase(
            "quantize",
            source,
            "q.npy",
            "--format",
            "integer",
            "--set",
            "width=8",
            "--set",
            "frac_width=4",
            "--codes",
            "c.npy",
        )
        self.run_mase("quantize", "q.npy", "qq.npy", "--format", "integer", "--set", "width=8", "--set", "frac_width=4")
        self.assertEqual((self.cwd / "q.npy").read_bytes(), (self.cwd / "qq.npy").read_bytes())
        self.assertEqual(len((self.cwd / "c.npy").read_bytes()) - 128, 64)

    def test_quantize_takes_other_types_as_float32_and_says_what_that_rounds(self):
        for descr, code, values, rounded in (
            ("<f8", "<d", [0.5, 0.1, -2.0, 1e300], 2),
            (">f4", ">f", [0.5, 0.25, -2.0, 1.0], 0),
            ("<f2", "<e", [0.5, 0.25, -2.0, 1.0], 0),
            ("<i8", "<q", [1, 2, 2**24 + 1, -(2**24)], 1),
            ("|i1", "<b", [1, 2, -3, 4], 0),
        ):
            write_vector(self.cwd / "x.npy", descr, values, code)
            done = self.run_mase("quantize", "x.npy", "q.npy", "--format", "integer(8, 4)", "--json")
            self.assertEqual(json.loads(done.stdout)["input_rounded"], rounded, descr)
            wanted = [min(max(round(value * 16), -128), 127) / 16 for value in values]
            self.assertEqual(list(last_floats(self.cwd / "q.npy", 4)), wanted, descr)
        said = self.run_mase("quantize", "x.npy", "q.npy", "--format", "integer(8, 4)").stdout
        self.assertIn("int8, read as float32; this rounds 0 of 4 values", said)

    def test_shared_codes_and_scales_stand_beside_the_codes(self):
        source = SOURCE / "tests/fixtures/models/jsc_s/inputs.npy"  # 4 rows of 16
        self.run_mase("quantize", source, "q.npy", "--format", "mxfp4(block_size=8)", "--codes", "c.npy")
        sizes = {path.name: len(path.read_bytes()) - 128 for path in self.cwd.glob("c*.npy")}
        self.assertEqual(sizes, {"c.npy": 64, "c.shared.npy": 8})
        result = json.loads(
            self.run_mase(
                "quantize",
                source,
                "t.npy",
                "--format",
                "ternary",
                "--set",
                "scaling_factor=true",
                "--codes",
                "t.codes.npy",
                "--json",
            ).stdout
        )
        self.assertEqual(len((self.cwd / result["scales"]).read_bytes()) - 128, 4 * 4)
        self.run_mase("quantize", source, "x.npy", "--format", "mxfp4(block_size=8)", "--set", "block_size=4", code=2)

    def test_quantize_refuses_parameters_out_of_range_with_their_names(self):
        source = SOURCE / "tests/fixtures/models/jsc_s/inputs.npy"
        for text, word in (
            ("integer(0, 0)", "width"),
            ("integer(65, 0)", "width"),
            ("minifloat_ieee(4, 8)", "exponent_width"),
            ("mxint(17)", "width"),
            ("block_fp(8, 9)", "exponent_width"),
            ("mxfp4(block_size=0)", "block_size"),
            ("mxint_hardware(8, 4, parallelism=[3, 5])", "parallelism"),
        ):
            self.assertIn(word, self.run_mase("quantize", source, "q.npy", "--format", text, code=2).stderr, text)
        self.assertEqual(files_below(self.cwd), [])

    def test_quantize_refuses_wrong_fields_and_leaves_nothing(self):
        source = SOURCE / "tests/fixtures/models/jsc_s/inputs.npy"
        self.run_mase("quantize", source, "q.npy", "--set", "width=0", code=2)
        self.run_mase("quantize", source, "q.npy", "--set", "widht=8", code=2)
        self.run_mase("quantize", source, "q.npy", "--format", "intger", code=2)
        self.run_mase("quantize", "missing.npy", "q.npy", code=3)
        self.assertEqual(files_below(self.cwd), [])


def peak_memory(*arguments, cwd):
    """The most bytes of memory that the program held at a time."""
    process = start(*arguments, cwd=cwd)
    process.stderr.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_maxrss * 1024 if process.returncode == 0 else None


def without_our_files(checkpoint, path):
    """The TorchScript module of a checkpoint, as other programs write it."""
    with zipfile.ZipFile(checkpoint) as source, zipfile.ZipFile(path, "w") as target:
        for entry in source.infolist():
            if "/extra/" not in entry.filename:
                target.writestr(entry, source.read(entry))


def with_another_operator(checkpoint, path, old, new):
    """A checkpoint whose graph runs another operator than the one that it was made with, and says so nowhere."""
    with zipfile.ZipFile(checkpoint) as source:
        entries = {entry.filename: source.read(entry) for entry in source.infolist()}
    graph, info = (
        next(name for name in entries if name.endswith(f"/mase/{own}")) for own in ("graph.txt", "info.json")
    )
    before = hashlib.sha256(entries[graph]).hexdigest()
    assert old.encode() in entries[graph] and before.encode() in entries[info]
    entries[graph] = entries[graph].replace(old.encode(), new.encode())
    after = hashlib.sha256(entries[graph]).hexdigest()
    entries[info] = entries[info].replace(before.encode(), after.encode())
    with zipfile.ZipFile(path, "w") as target:
        for name, data in entries.items():
            target.writestr(name, data)


class Operators(InFolder):
    def test_a_checkpoint_runs_no_operator_that_a_model_may_not_run(self):
        self.write("c.toml", 'model = "jsc-tiny"\n[passes.remove_dropout]\n')
        self.run_mase("transform", "--config", "c.toml", "--project", "p")
        checkpoint = self.cwd / "mase_output/p/software/transform/transformed_ckpt/graph_module.pt"
        with_another_operator(checkpoint, self.cwd / "m.pt", "aten::relu(", "aten::_foobar(")
        for command in (
            ("show", "m.pt"),
            ("run", "m.pt", "--input-shape", "1,16", "--output", "y.npy"),
            ("emit", "m.pt"),
        ):
            refused = self.run_mase(*command, code=4).stderr
            for words in ("m.pt: operators that are not allowed:", "node '", "--allow-op aten::_foobar"):
                self.assertIn(words, refused)
        self.assertIn("aten::_foobar(", self.run_mase("show", "m.pt", "--allow-op", "aten::_foobar").stdout)
        self.assertIn("--allow-op ../x", self.run_mase("show", "m.pt", "--allow-op", "../x", code=2).stderr)


class Memory(InFolder):
    def test_importing_holds_the_weights_once(self):
        peaks, sizes = [], []
        for factor in (1, 8):
            self.write("c.toml", f'model = "lfc"\n[passes.scale_channels]\nfactor = {factor}\n')
            self.run_mase("transform", "--config", "c.toml", "--overwrite", "--project", "p")
            without_our_files(
                self.cwd / "mase_output/p/software/transform/transformed_ckpt/graph_module.pt", self.cwd / "m.pt"
            )
            peaks.append(peak_memory("show", "m.pt", "--input-shape", "2,1,28,28", cwd=self.cwd))
            sizes.append((self.cwd / "m.pt").stat().st_size)
        # One of the three largest layers, each with 30 % of the weights, is there twice at a time.
        self.assertLess(peaks[1] - peaks[0], 1.6 * (sizes[1] - sizes[0]))
        self.assertGreater(sizes[1], 50 << 20)


class Training(InFolder):
    arguments = (
        "train",
        "jsc-mlp",
        "jsc",
        "--batch-size",
        "64",
        "--max-epochs",
        "60",
        "--seed",
        "3",
        "--schedule",
        "cosine",
        "--checkpoint-every-n-steps",
        "7",
        "-q",
    )

    def last(self, project):
        return self.cwd / f"mase_output/{project}/software/training_ckpts/last.pt"

    def kill_while_training(self, project, delay):
        process = start(*self.arguments, "--project", project, cwd=self.cwd)
        wait_for(self.last(project), process)
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.communicate()

    def test_killed_and_resumed_runs_end_with_the_same_bits(self):
        self.run_mase(*self.arguments, "--project", "whole")
        wanted = info(self.last("whole"))
        pick = random.Random(0)
        interrupted = 0
        for trial in range(4):
            project = f"killed{trial}"
            self.kill_while_training(project, pick.uniform(0.0, 0.6))
            interrupted += info(self.last(project))["training"]["step"] < wanted["training"]["step"]
            self.run_mase(*self.arguments, "--project", project, "--resume")
            self.assertEqual(info(self.last(project))["tensor_hash"], wanted["tensor_hash"])
        self.assertGreater(interrupted, 0, "no run was really interrupted")

    def test_a_run_killed_before_its_first_checkpoint_begins_anew(self):
        self.run_mase(*self.arguments, "--project", "whole")
        folder = self.last("early").parent
        folder.mkdir(parents=True)
        (folder / "config.toml").write_text("")
        self.run_mase(*self.arguments, "--project", "early", "--resume")
        self.assertEqual(info(self.last("early"))["tensor_hash"], info(self.last("whole"))["tensor_hash"])

    def test_resume_without_a_checkpoint_and_with_other_options_is_refused(self):
        self.run_mase(*self.arguments, "--project", "none", "--resume", code=3)
        self.run_mase(*self.arguments, "--project", "p", "--max-epochs", "2", code=2)  # given twice
        short = ("train", "jsc-tiny", "jsc", "--max-epochs", "2", "--project", "p", "-q")
        self.run_mase(*short)
        result = self.run_mase(*short, "--learning-rate", "0.5", "--resume", code=2)
        self.assertIn("learning_rate", result.stderr)

    def test_a_training_is_not_replaced_unasked(self):
        arguments = ("train", "jsc-tiny", "jsc", "--max-epochs", "2", "--project", "p", "-q")
        self.run_mase(*arguments)
        before = self.last("p").read_bytes()
        other = (*arguments, "--seed", "9")
        refused = self.run_mase(*other, code=2)
        self.assertIn("last.pt", refused.stderr)
        self.assertIn("--overwrite", refused.stderr)
        self.assertEqual(self.last("p").read_bytes(), before)
        self.run_mase(*other, "--overwrite", "--resume", code=2)
        self.run_mase(*other, "--overwrite")
        self.assertNotEqual(self.last("p").read_bytes(), before)

    def test_ctrl_c_stores_the_state_and_the_run_goes_on_with_the_same_bits(self):
        arguments = [*self.arguments[: self.arguments.index("--checkpoint-every-n-steps")], "-q"]
        self.run_mase(*arguments, "--project", "whole")
        process = start(*arguments, "--project", "p", cwd=self.cwd)
        wait_for(self.last("p"), process)
        process.send_signal(signal.SIGINT)
        message = process.communicate()[1]
        self.assertEqual(process.returncode, 130, message)
        self.assertRegex(message, r"stopped after step \d+ of \d+.*--resume")
        step = info(self.last("p"))["training"]["step"]
        self.assertIn(f"after step {step} of", message)
        self.run_mase(*arguments, "--project", "p", "--resume")
        self.assertEqual(info(self.last("p"))["tensor_hash"], info(self.last("whole"))["tensor_hash"])

    def test_a_project_stays_inside_of_its_folder(self):
        for name in ("../escape", "/escape", ".", "a/../.."):
            result = self.run_mase("train", "jsc-tiny", "jsc", "--project", name, code=2)
            self.assertIn("--project-dir", result.stderr)
        result = self.run_mase("train", "jsc-tiny", "jsc", "--project", "p", "--project-dir", "", code=2)
        self.assertIn("project_dir is empty; use '.' for the current folder", result.stderr)
        self.assertEqual(files_below(self.cwd), [])

    def test_nan_in_the_data_is_named(self):
        rows = ["a,b,label"] + [f"{i % 7},{i % 5},{i % 2}" for i in range(60)]
        rows[31] = "nan,1,0"
        self.write("d.csv", "\n".join(rows) + "\n")
        result = self.run_mase("train", "toy", "csv", "--data-dir", "d.csv", "--project", "p", code=3)
        self.assertIn("d.csv", result.stderr)

    def test_an_exploding_loss_names_its_step_and_keeps_earlier_checkpoints(self):
        result = self.run_mase(
            "train",
            "jsc-mlp",
            "jsc",
            "--learning-rate",
            "1000",
            "--training-optimizer",
            "sgd",
            "--weight-decay",
            "1000",
            "--max-epochs",
            "50",
            "--project",
            "p",
            "-q",
            code=1,
        )
        self.assertRegex(result.stderr, r"step \d+")


class Init(InFolder):
    def emitted(self, model, *inputs):
        """The configuration of a model as it is: transformed, and made into hardware."""
        self.run_mase("init", model, *inputs, "-o", "made.toml", "--overwrite")
        inputs = [word for word in inputs if word.startswith("--") or word.endswith(".npy")]
        project = ("--project-dir", "out", "--project", Path(model).stem)
        made = self.run_mase("transform", "--config", "made.toml", *inputs, *project, "--overwrite", "--json")
        self.assertNotIn("asks for", made.stderr)  # a port that is not there
        document = json.loads(made.stdout)
        if "--input" in inputs:  # what hardware computes is near what was quantized
            level = document["integer_level"]
            self.assertLess(level["largest_difference"], 0.25 * level["largest_result"])
        self.run_mase("emit", document["checkpoint"], *project)
        return document["checkpoint"]

    def test_what_it_writes_runs_and_has_hardware(self):
        checkpoint = self.emitted("lenet", "mnist")
        scores = [
            json.loads(self.run_mase("test", checkpoint, "mnist", "--level", level, "--json").stdout)["scores"]
            for level in ("quantized", "integer")
        ]
        self.assertEqual(*scores)
        for name in ("resnet8", "mobile_tiny", "dict_output", "encoder_tiny", "vit_tiny", "bert_tiny"):
            folder = SOURCE / "tests/fixtures/models" / name
            inputs = [word for file in sorted(folder.glob("input*.npy")) for word in ("--input", str(file))]
            self.emitted(str(next(folder.glob("*.pt"))), *inputs)
        # Without any data both operands of a product have binary points that data need not choose.
        model = next((SOURCE / "tests/fixtures/models/encoder_tiny").glob("*.pt"))
        self.emitted(str(model), "--input-shape=2,12,32")

    def test_its_first_line_is_the_command_that_reads_the_model_as_it_did(self):
        model = SOURCE / "tests/fixtures/programs/Options.pt"
        options = ("--input-shape", "x=2,3,4", "--fix", "negate=true", "--fix", "scale=0.5")
        self.run_mase("init", model, *options, "-o", "with space.toml")
        words = shlex.split((self.cwd / "with space.toml").read_text(encoding="utf-8").splitlines()[0])
        self.assertEqual(words[1:], ["mase", "transform", "--config", "with space.toml", *options])
        dumped = self.run_mase(*words[2:], "--project", "p", "--dump-after", "all", "dumps")
        self.assertNotIn("guessed", dumped.stderr)
        self.assertIn("aten::neg", "".join(path.read_text() for path in (self.cwd / "dumps").iterdir()))

    def test_a_trace_of_train_mode_is_told_and_loses_what_draws_numbers(self):
        folder = SOURCE / "tests/fixtures/programs"
        inputs = ("--input", str(folder / "example.npy"))
        made = self.run_mase("init", str(folder / "TrainMode.pt"), *inputs, "-o", "made.toml")
        self.assertEqual(made.stderr.count("every run gives another result"), 1)
        self.assertIn('run = "remove_dropout"', (self.cwd / "made.toml").read_text(encoding="utf-8"))
        self.run_mase("transform", "--config", "made.toml", *inputs, "--project-dir", "out", "--project", "p", "-q")
        checkpoint = "out/p/software/transform/transformed_ckpt/graph_module.pt"
        results = []
        for name in ("a.npy", "b.npy"):
            self.run_mase("run", checkpoint, *inputs, "--output", name)
            results.append((self.cwd / name).read_bytes())
        self.assertEqual(*results)
        scripted = str(folder / "TextClassifier.pt")
        self.assertNotIn(
            "remove_dropout",
            self.run_mase("init", scripted, "--input-shape", "1,7:int64:0..9", "--input-shape", "1,7").stdout,
        )

    def test_every_node_is_named_and_nothing_is_replaced_unasked(self):
        text = self.run_mase("init", "lenet", "mnist", "--width", "5").stdout
        for node in ("conv1", "conv2", "fc1", "fc2"):
            self.assertIn(node, text)
        self.assertIn("weight_width = 5\n", text)
        self.write("kept.toml", "mine")
        said = self.run_mase("init", "lenet", "--data-dir", "rows", code=2).stderr
        self.assertIn("--data-dir needs the data set that reads it", said)
        self.assertIn("--overwrite", self.run_mase("init", "lenet", "mnist", "-o", "kept.toml", code=2).stderr)
        self.assertEqual((self.cwd / "kept.toml").read_text(encoding="utf-8"), "mine")

    def test_a_configuration_gives_its_settings_to_the_new_one(self):
        (self.cwd / "rows").mkdir()
        write_vector(self.cwd / "rows/x.npy", "<f4", [i * 7 % 11 / 11 for i in range(640)], "<f", (40, 16))
        own = self.write(
            "own.toml",
            'model = "jsc-tiny"\ndataset = "npy"\ndata_dir = "rows"\nproject = "own"\nseed = 3\ntest_share = 0.25\n'
            '[passes.average_bits]\n[metrics.size]\ncommand = "wc -c {outputs}"\n',
        )
        self.run_mase("init", "--config", own, "--validation-share", "0.5", "-o", "made.toml")
        made = tomllib.loads((self.cwd / "made.toml").read_text(encoding="utf-8"))
        kept = {name: made[name] for name in ("model", "dataset", "data_dir", "project", "seed", "test_share")}
        self.assertEqual(
            kept,
            {"model": "jsc-tiny", "dataset": "npy", "data_dir": "rows", "project": "own", "seed": 3}
            | {"test_share": 0.25},
        )
        self.assertEqual((made["validation_share"], list(made["metrics"])), (0.5, ["size"]))
        self.assertNotIn("average_bits", [entry["run"] for entry in made["pass"]])
        self.run_mase("transform", "--config", "made.toml")
        self.assertTrue((self.cwd / "mase_output/own").is_dir())
        self.assertIn("no model given", self.run_mase("init", "--width", "4", code=2).stderr)
        self.run_mase("init", "--config", own, "--search", "-o", "both.toml")
        both = tomllib.loads((self.cwd / "both.toml").read_text(encoding="utf-8"))
        self.assertEqual(
            (both["pass"], sorted(both["search"])), (made["pass"], ["prepare", "search_space", "strategy"])
        )
        self.run_mase("transform", "--config", "both.toml", "--project", "both")
        self.run_mase("search", "--config", "both.toml", "--project", "both", "--n-trials", "2")
        said = self.run_mase("init", "jsc-tiny", "images", "--data-dir", "rows", "--image-size", "many", code=2).stderr
        self.assertIn("image_size", said)

    def test_what_has_no_format_is_listed(self):
        folder = SOURCE / "tests/fixtures/models/encoder_tiny"
        inputs = ("--input", str(folder / "inputs.npy"))
        text = self.run_mase("init", str(next(folder.glob("*.pt"))), *inputs).stdout
        self.assertIn("[pass.softmax.config]", text)
        self.assertIn("data_out_width = 8\n", text)


class VitTiny(InFolder):
    def test_its_file_for_quantized_training_gives_every_layer_4_bit_weights_and_a_datapath(self):
        config = SOURCE / "configs/quantized_training/vit_tiny_weight4.toml"
        made = json.loads(self.run_mase("transform", "--config", config, "--project", "p", "--json").stdout)
        layers = re.findall(
            r"aten::(?:linear|conv2d)\(.*weight=integer\((\d), \d\)", self.run_mase("show", made["checkpoint"]).stdout
        )
        self.assertEqual(layers, ["4"] * 14)  # the patches, four in each of three blocks, the head
        self.assertIn("linear", self.run_mase("show", made["checkpoint"], "--format", "program").stdout)


class Report(InFolder):
    """One page of what a project has."""

    NAME = 'a<b>&"c"'

    def in_project(self, *words):
        return self.run_mase(*words, "--project-dir", "out", "--project", self.NAME, "-q")

    def page(self):
        """The page as XML: what is not well-formed raises an exception."""
        text = (self.cwd / "out" / self.NAME / "report.html").read_text(encoding="utf-8")
        self.assertNotIn("http:", text.replace("http://www.w3.org/2000/svg", ""))
        self.assertNotIn("https:", text)
        return xml.etree.ElementTree.fromstring(text.removeprefix("<!DOCTYPE html>"))

    def test_what_each_command_found_is_on_one_page(self):
        self.in_project("train", "jsc-tiny", "jsc", "--max-epochs", "2")
        self.in_project("train", "jsc-tiny", "jsc", "--max-epochs", "4", "--resume")
        folder = f"out/{self.NAME}/software"
        config = self.write("p.toml", '[passes.quantize]\nby = "type"\nlinear.config.weight = "integer(8, 6)"\n')
        best = f"{folder}/training_ckpts/best.pt"
        self.in_project("transform", "jsc-tiny", "jsc", "--load", best, "--config", config)
        self.in_project("test", f"{folder}/transform/transformed_ckpt/graph_module.pt", "jsc")
        result = json.loads(self.run_mase("report", f"out/{self.NAME}/", "--json").stdout)
        self.assertEqual(result["records"], ["train", "transform", "test_test_quantized"])
        page = self.page()
        self.assertEqual([h.text for h in page.iter("h2")], ["Train", "Transform", "Test test quantized"])
        self.assertEqual(page.find("body/h1").text, f"Project {self.NAME}")
        record = json.loads((self.cwd / "out" / self.NAME / "records/train.json").read_text(encoding="utf-8"))
        self.assertEqual([epoch["epoch"] for epoch in record["document"]["epochs"]], [1, 2, 3, 4])
        titles = " ".join(title.text or "" for title in page.iter("title"))
        for epoch in record["document"]["epochs"]:
            self.assertIn(f"epoch {epoch['epoch']}.0: {epoch['validation_loss']!r}", titles)

    def test_tasks_with_a_perplexity_show_it(self):
        (self.cwd / "text").mkdir()
        self.write("text/lines.txt", "The next byte of a text is what is asked for. " * 120)
        self.in_project("train", "llama-tiny", "text", "--data-dir", "text", "--max-epochs", "2")
        record = json.loads((self.cwd / "out" / self.NAME / "records/train.json").read_text(encoding="utf-8"))
        for epoch in record["document"]["epochs"]:
            self.assertAlmostEqual(epoch["validation_perplexity"], math.exp(epoch["validation_loss"]))
        self.run_mase("report", f"out/{self.NAME}/")
        self.assertIn("perplexity", [caption.text for caption in self.page().iter("figcaption")])
        tested = json.loads(self.run_mase("test", "llama-tiny", "text", "--json").stdout)["scores"]
        found = json.loads(self.run_mase("diff", "llama-tiny", "llama-tiny", "--dataset", "text", "--json").stdout)
        self.assertAlmostEqual(found["perplexity"]["first"], tested["perplexity"])
        self.assertEqual(found["perplexity"]["first"], found["perplexity"]["second"])

    def test_an_empty_or_damaged_project_is_said(self):
        self.assertIn("no such folder", self.run_mase("report", "nothing", code=3).stderr)
        (self.cwd / "some").mkdir()
        self.assertIn("has recorded results", self.run_mase("report", "some", code=3).stderr)
        (self.cwd / "some/records").mkdir()
        self.write("some/records/train.json", "[1]")
        self.assertIn("some/records/train.json", self.run_mase("report", "some", code=3).stderr)
        histogram = '{"document": {"simulation": {"latency_histogram": %s}}}'
        for damaged in (
            '{"tables": [{"header": [1], "rows": 2}, 3]}',
            '{"document": {"epochs": [4, {"epoch": "x"}]}}',
            histogram % '{"least": 1, "width": 0, "frames": ["x", 2]}',
            histogram % '{"least": "x", "frames": 3}',
            '{"document": {"simulation": {"fifos": [1, {"name": 2, "depth": 3, "peak": 1}, {"name": "a", "depth": 0}]}}}',
        ):
            self.write("some/records/train.json", damaged)
            self.run_mase("report", "some", "-o", "page.html")
        self.write("some/records/train.json", '{"document": {"epochs": [{"epoch": 1, "validation_<b>": 0.5}]}}')
        self.run_mase("report", "some", "-o", "page.html")
        page = (self.cwd / "page.html").read_text()
        self.assertIn("&lt;b&gt; by epoch", page)
        self.assertNotIn("<b>", page)
        fifos = '[{"name": "fifo_add", "depth": 40, "peak": 10}]'
        self.write("some/records/simulate.json", '{"document": {"simulation": {"fifos": %s}}}' % fifos)
        self.run_mase("report", "some", "-o", "page.html")
        page = (self.cwd / "page.html").read_text()
        self.assertIn("fifo_add: 10 of 40", page)
        self.assertIn("25.0", page)


class BadFiles(InFolder):
    def test_mutated_models_are_refused_or_read_but_never_crash(self):
        original = (SOURCE / "tests/fixtures/models/jsc_s/jsc_s.script.pt").read_bytes()
        pick = random.Random(1)
        for trial in range(25):
            data = bytearray(original)
            if trial % 3 == 0:
                data = data[: pick.randrange(len(data))]
            else:
                for _ in range(1 + trial % 4):
                    data[pick.randrange(len(data))] ^= 1 << pick.randrange(8)
            (self.cwd / "m.pt").write_bytes(data)
            result = mase(
                "run",
                "m.pt",
                "--input",
                SOURCE / "tests/fixtures/models/jsc_s/inputs.npy",
                "--output",
                "y.npy",
                cwd=self.cwd,
            )
            self.assertIn(result.returncode, (0, 3), f"trial {trial}: {result.stderr}")
            if result.returncode:
                self.assertTrue(result.stderr.strip())
                self.assertFalse((self.cwd / "y.npy").exists())
            (self.cwd / "y.npy").unlink(missing_ok=True)

    def test_files_that_are_no_models(self):
        for name, content in (("empty.pt", b""), ("text.pt", b"hello"), ("zeros.pt", bytes(4096))):
            (self.cwd / name).write_bytes(content)
            result = self.run_mase("show", name, code=3)
            self.assertIn(name, result.stderr)
        self.run_mase("show", "missing.pt", code=3)

    def test_an_unwritable_output_folder_is_named_and_nothing_else_is_touched(self):
        self.write("file", "mine")
        result = self.run_mase("train", "jsc-tiny", "jsc", "--project-dir", "file", "--max-epochs", "1", code=3)
        self.assertIn("file", result.stderr)
        self.assertEqual((self.cwd / "file").read_text(), "mine")

    def test_a_full_disk_keeps_the_previous_checkpoint(self):
        arguments = ("train", "jsc-tiny", "jsc", "--max-epochs", "1", "--project", "p", "--report-to", "none", "-q")
        self.run_mase(*arguments)
        best = self.cwd / "mase_output/p/software/training_ckpts/best.pt"
        before = best.read_bytes()

        def no_space():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

        result = mase(*arguments, "--seed", "9", "--overwrite", cwd=self.cwd, preexec_fn=no_space)
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertEqual(best.read_bytes(), before)
        self.assertFalse([name for name in files_below(self.cwd) if "tmp" in name])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mase", type=Path, required=True)
    parser.add_argument("--source", type=Path, required=True)
    options, rest = parser.parse_known_args()
    MASE, SOURCE = options.mase.resolve(), options.source.resolve()
    unittest.main(argv=[sys.argv[0], *rest])
