#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`mase test` on several processes of this machine: the figures are those of one process.

usage: shared_work_test.py --mase BINARY --source ROOT
"""

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from several_processes_test import children_of
from train_emit_test import write_npy

MASE = None
SOURCE = None


class SharedTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.folder = Path(cls.scratch.name)
        config = SOURCE / "configs/jsc_s_integer8.toml"
        words = [MASE, "transform", "--config", config, "--project-dir", cls.folder, "--project", "jets", "-q"]
        subprocess.run(list(map(str, words)), check=True, capture_output=True)
        cls.model = cls.folder / "jets"

    def start(self, *words, model=None, **more):
        command = [MASE, "test", model or self.model, "jsc", *words]
        return subprocess.Popen(
            list(map(str, command)), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more
        )

    def finish(self, process, code=0):
        out, error = process.communicate(timeout=300)
        self.assertEqual(process.returncode, code, out + error)
        return error if code else out

    def check_same(self, *words):
        """150 rows: the last batch has fewer rows than the others, and 4 processes share 3 batches."""
        alone = self.finish(self.start(*words, "--json"))
        document = json.loads(alone)
        for count in (2, 3, 4):
            self.assertEqual(self.finish(self.start(*words, "--json", "--nproc", count)), alone)
        return document

    def test_scores_at_every_level(self):
        found = self.check_same("--level", "float,quantized,integer", "--batch-size", 64)
        self.assertEqual({level["rows"] for level in found["levels"].values()}, {150})
        self.assertNotEqual(found["levels"]["float"]["loss"], found["levels"]["quantized"]["loss"])

    def test_one_level_and_some_rows(self):
        self.assertEqual(self.check_same("--rows", 37, "--batch-size", 10, "--macro")["scores"]["rows"], 37)

    def test_distances_from_float(self):
        found = self.check_same("--task", "none", "--level", "quantized,integer", "--batch-size", 64)
        self.assertEqual(found["levels"]["quantized"]["rows"], 150)

    def test_programs_of_metrics_see_all_rows_in_their_order(self):
        program = self.folder / "first.py"
        program.write_text(
            "import hashlib, pathlib, sys\n"
            "digest = hashlib.sha256(b''.join(pathlib.Path(p).read_bytes() for p in sys.argv[1:])).hexdigest()\n"
            "print(int(digest[:8], 16))\n"
        )
        config = self.folder / "own.toml"
        config.write_text(f'[metrics.digest]\ncommand = "{sys.executable} {program} {{outputs}} {{targets}}"\n')
        self.check_same("--config", config, "--batch-size", 64)

    def test_goals_are_those_of_one_process(self):
        error = self.finish(self.start("--nproc", 2, "--require", "accuracy >= 0.999"), 1)
        self.assertEqual(error.count("error:"), 1, error)

    def test_level_rtl_is_refused(self):
        error = self.finish(self.start("--nproc", 2, "--level", "float,rtl"), 2)
        self.assertEqual(error.count("level rtl simulates one frame after another"), 1, error)

    def test_rank_0_alone_prints_and_records(self):
        self.finish(self.start("--nproc", 3, "--level", "float"))
        records = [path.name for path in (self.model / "records").iterdir() if path.name.startswith("test_test_float")]
        self.assertEqual(records, ["test_test_float.json"])

    def ranks(self, words_of_each, models, code):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            common = {**os.environ, "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1"}
            common |= {"MASTER_PORT": str(listener.getsockname()[1]), "MASE_LISTENER": str(listener.fileno())}
            started = [
                self.start(
                    *words,
                    *("--timeout", 60, "--level", "quantized"),
                    model=models[rank],
                    env=common | {"RANK": str(rank)},
                    pass_fds=[listener.fileno()],
                )
                for rank, words in enumerate(words_of_each)
            ]
        return [self.finish(process, code) for process in started]

    def test_processes_that_disagree_are_refused(self):
        for difference, model, message in (
            (["--rows", 9], self.model, "rank 1 has --rows = 9, and rank 0 null"),
            (["--split", "train"], self.model, 'rank 1 has --split = "train", and rank 0 "test"'),
            ([], "jsc-s", "rank 1 has another model than rank 0"),
            (["--seed", 1], "jsc-s", "rank 1 has other weights of the model than rank 0"),
        ):
            first = self.model if model == self.model or difference == [] else "jsc-s"
            for error in self.ranks([[], difference], [first, model], 2):
                self.assertIn(message, error)

    def long_test(self):
        """A test of two million rows, which takes minutes."""
        data = self.folder / "many"
        if not data.exists():
            data.mkdir()
            rows = 2_000_000
            write_npy(data / "x.npy", "<f4", (rows, 16), bytes(rows * 64))
            write_npy(data / "y.npy", "<i8", (rows,), bytes(rows * 8))
        words = [MASE, "test", self.model, "npy", "--data-dir", data, "--split", "train", "--batch-size", 2]
        process = subprocess.Popen(
            list(map(str, [*words, "--level", "integer", "--nproc", 2, "--project-dir", self.folder])),
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        end = time.monotonic() + 120
        while len(children_of(process.pid)) < 2 or not all(map(self.is_connected, children_of(process.pid))):
            self.assertIsNone(process.poll())
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)
        return process

    def is_connected(self, pid):
        """Whether a process has met the others: it has a thread of its gloo device."""
        return "gloo" in "".join(p.read_text() for p in Path(f"/proc/{pid}/task").glob("*/comm"))

    def test_a_process_that_dies_is_named_and_nothing_is_written(self):
        process = self.long_test()
        ranks = children_of(process.pid)
        before = {p: p.read_bytes() for p in self.model.rglob("*") if p.is_file()}
        victim = next(c for c in ranks if b"RANK=1\0" in Path(f"/proc/{c}/environ").read_bytes())
        os.kill(victim, signal.SIGKILL)
        error = self.finish(process, 3)
        self.assertIn("rank 1 was ended by signal 9", error)
        self.assertIn("run the command again", error)
        for child in ranks:
            self.assertFalse(Path(f"/proc/{child}").exists())
        self.assertEqual({p: p.read_bytes() for p in self.model.rglob("*") if p.is_file()}, before)

    def test_an_interrupt_stops_all(self):
        process = self.long_test()
        process.send_signal(signal.SIGINT)
        error = self.finish(process, 130)
        self.assertNotIn("lost another process", error)


class FaultsOfFiles(unittest.TestCase):
    def test_a_fault_that_all_ranks_find_is_printed_once(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            write_npy(folder / "x.npy", "<f4", (10, 16), bytes(640))
            write_npy(folder / "y.npy", "<i8", (9,), bytes(72))
            for command in ("train", "test"):
                words = [MASE, command, "jsc-s", "npy", "--data-dir", folder, "--project-dir", folder, "--nproc", "3"]
                ended = subprocess.run(list(map(str, words)), capture_output=True, text=True)
                self.assertEqual(ended.returncode, 3, ended.stderr)
                self.assertEqual(ended.stderr.count("error:"), 1, ended.stderr)
                self.assertNotIn("rank", ended.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--mase", required=True)
    parser.add_argument("--source", required=True)
    arguments, rest = parser.parse_known_args()
    MASE = Path(arguments.mase).resolve()
    SOURCE = Path(arguments.source).resolve()
    unittest.main(argv=[sys.argv[0], *rest])
