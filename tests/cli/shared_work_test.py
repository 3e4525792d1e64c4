#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`mase test` and `mase transform` on several processes of this machine: the results are those of one process.

usage: shared_work_test.py --mase BINARY --source ROOT
"""

import argparse
import json
import os
import signal
import socket
import struct
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


def many_rows(folder):
    """The folder of a data set of two million rows."""
    data, rows = folder / "many", 2_000_000
    if not data.exists():
        data.mkdir()
        write_npy(data / "x.npy", "<f4", (rows, 16), bytes(rows * 64))
        write_npy(data / "y.npy", "<i8", (rows,), bytes(rows * 8))
    return data


def wait_until_connected(test, process):
    """Waits for the two processes that `process` starts to meet: each then has a thread of its gloo device."""

    def is_connected(pid):
        return "gloo" in "".join(p.read_text() for p in Path(f"/proc/{pid}/task").glob("*/comm"))

    end = time.monotonic() + 120
    while len(children_of(process.pid)) < 2 or not all(map(is_connected, children_of(process.pid))):
        test.assertIsNone(process.poll())
        test.assertLess(time.monotonic(), end)
        time.sleep(0.02)


def child_of_rank(rank, children):
    return next(c for c in children if f"RANK={rank}\0".encode() in Path(f"/proc/{c}/environ").read_bytes())


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
        data = many_rows(self.folder)
        words = [MASE, "test", self.model, "npy", "--data-dir", data, "--split", "train", "--batch-size", 2]
        process = subprocess.Popen(
            list(map(str, [*words, "--level", "integer", "--nproc", 2, "--project-dir", self.folder])),
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        wait_until_connected(self, process)
        return process

    def test_a_process_that_dies_is_named_and_nothing_is_written(self):
        process = self.long_test()
        ranks = children_of(process.pid)
        before = {p: p.read_bytes() for p in self.model.rglob("*") if p.is_file()}
        os.kill(child_of_rank(1, ranks), signal.SIGKILL)
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


CALIBRATION = """
[[pass]]
run = "report_graph"
file_name = "graph.txt"

[[pass]]
run = "quantize"
by = "type"
calibration = "METHOD"
num_samples = SAMPLES
[pass.batch_norm1d.config]
data_in = "integer(8, auto)"
weight = "integer(8, auto)"
bias = "integer(8, auto)"
[pass.linear.config]
data_in = "DATA"
weight = "integer(6, auto, granularity=channel)"
bias = "integer(12, auto)"

[[pass]]
run = "profile_statistics"
target_weight_nodes = ["linear", "batch_norm1d"]
target_activation_nodes = ["linear", "relu"]
weight_statistics.variance_precise.dims = "all"
activation_statistics.range_quantile = { dims = "all", quantile = 0.97 }

[[pass]]
run = "save_node_meta_param"
save_path = "after.toml"
"""


class SharedCalibration(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = Path(self.scratch.name)

    def start(self, project, method="mse", data="integer(8, auto)", words=(), text=CALIBRATION, samples=512, **more):
        config = self.folder / f"{project}.toml"
        config.write_text(text.replace("METHOD", method).replace("DATA", data).replace("SAMPLES", str(samples)))
        command = [MASE, "transform", "--config", config, "--project-dir", self.folder, "--project", project]
        command += ["--json", "--timeout", 60, "jsc-s", *(words if "npy" in words else ["jsc", *words])]
        return subprocess.Popen(
            list(map(str, command)), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more
        )

    def finish(self, process, code=0):
        out, error = process.communicate(timeout=300)
        self.assertEqual(process.returncode, code, out + error)
        return error if code else json.loads(out)

    def files(self, project):
        """Tables and metadata with the formats, but for the project's name. A checkpoint has times in it."""
        found = {}
        for path in sorted((self.folder / project / "software/transform").rglob("*")):
            if path.is_file() and path.name != "config.toml" and path.suffix != ".pt":
                found[path.relative_to(self.folder / project)] = path.read_bytes().replace(project.encode(), b"PROJECT")
        return found

    def check_same(self, counts, *choice):
        alone = self.finish(self.start("alone", *choice, words=["--overwrite"]))
        for count in counts:
            words = ["--overwrite", "--nproc", count]
            shared = self.finish(self.start(f"of{count}", *choice, words=words))
            found = json.dumps(shared["passes"]).replace(f"/of{count}/", "/alone/")
            self.assertEqual(json.loads(found), alone["passes"])
            self.assertEqual(self.files(f"of{count}"), self.files("alone"))
        return alone

    def test_formats_and_statistics_are_those_of_one_process(self):
        for method, counts in (("mse", (2, 3)), ("kl", [2]), ("percentile", [2])):
            passes = self.check_same(counts, method)["passes"]
            found = {entry["pass"]: entry["info"] for entry in passes}
            self.assertGreater(len({entry["format"] for entry in found["quantize"]["calibrated"]}), 4)
            self.assertGreater(len(found["profile_statistics"]["statistics"]), 4)

    def test_a_field_that_is_a_real_number(self):
        self.check_same([2], "mse", "nvfp4(block_dim=-1, tensor_scale=auto)")

    def test_ranges_of_exponents(self):
        passes = self.check_same([2], "mse", "mxint8(exponent_min=auto, exponent_max=auto)")["passes"]
        self.assertGreater(len(passes[1]["info"]["exponents"]), 2)

    def test_more_processes_than_ports(self):
        self.check_same([12])

    def rows_of(self, value):
        data = self.folder / "data"
        data.mkdir()
        write_npy(data / "x.npy", "<f4", (64, 16), struct.pack("<f", value) * 64 * 16)
        write_npy(data / "y.npy", "<i8", (64,), bytes(64 * 8))
        return data

    def ranks(self, *choices):
        """Starts a process for each choice, as a launcher does."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            place = {**os.environ, "WORLD_SIZE": str(len(choices)), "MASTER_ADDR": "127.0.0.1"}
            place |= {"MASTER_PORT": str(listener.getsockname()[1]), "MASE_LISTENER": str(listener.fileno())}
            return [
                self.start(f"rank{rank}", **choice, env=place | {"RANK": str(rank)}, pass_fds=[listener.fileno()])
                for rank, choice in enumerate(choices)
            ]

    def test_processes_that_disagree_are_refused(self):
        for difference, message in (
            ({"method": "kl"}, 'rank 1 has pass 2, quantize.calibration = "kl", and rank 0 "mse"; start all'),
            ({"data": "integer(7, auto)"}, 'quantize.linear.config.data_in = "integer(7, auto)", and rank 0'),
            (
                {"text": CALIBRATION.replace('run = "report', 'run = "init_metadata"\n[[pass]]\nrun = "report')},
                "pass 1 =",
            ),
            ({"words": ["--seed", "1"]}, "rank 1 has other weights of the model than rank 0"),
            ({"words": ["npy", "--data-dir", self.rows_of(1)]}, "rank 1 has another data set than rank 0"),
        ):
            for process in self.ranks({}, difference):
                self.assertIn(message, self.finish(process, 2))
            self.assertFalse((self.folder / "rank0/software").exists())

    def test_a_pipeline_without_shared_work_is_refused(self):
        text = '[passes.report_graph]\nfile_name = "graph.txt"\n'
        for words in (["--nproc", 2], ["--nproc", 2, "--dry-run"]):
            error = self.finish(self.start("none", text=text, words=words), 2)
            self.assertEqual(error.count("no pass whose work several processes share"), 1, error)

    def test_nothing_to_learn_is_a_warning(self):
        text = '[passes.quantize]\n[passes.quantize.linear.config]\nweight = "integer(8, 4)"\n'
        process = self.start("idle", text=text, words=["--nproc", 2])
        self.assertIn("the processes shared no work", process.communicate(timeout=300)[1])
        self.assertEqual(process.returncode, 0)

    def test_an_error_of_one_process_is_that_of_all(self):
        words = ["npy", "--data-dir", self.rows_of(3.4e38)]
        alone = self.finish(self.start("alone", words=words), 3)
        shared = self.finish(self.start("of2", words=[*words, "--nproc", 2]), 3)
        self.assertIn("inf; statistics and ranges are taken from finite values only", alone)
        self.assertEqual(shared.replace("of2", "alone"), alone)

    def long_calibration(self):
        """It takes minutes."""
        words = ["npy", "--data-dir", many_rows(self.folder), "--batch-size", 2, "--nproc", 2]
        process = self.start("long", words=words, samples=1_000_000)
        wait_until_connected(self, process)
        return process

    def check_nothing_is_left(self, ranks):
        for child in ranks:
            self.assertFalse(Path(f"/proc/{child}").exists())
        self.assertFalse((self.folder / "long/software/transform/transformed_ckpt").exists())
        self.assertEqual([p for p in (self.folder / "long").rglob("*") if "calibration" in p.name], [])

    def test_a_process_that_dies_is_named_and_no_checkpoint_is_written(self):
        process = self.long_calibration()
        ranks = children_of(process.pid)
        os.kill(child_of_rank(1, ranks), signal.SIGKILL)
        error = self.finish(process, 3)
        self.assertIn("rank 1 was ended by signal 9", error)
        self.assertIn("run the command again", error)
        self.check_nothing_is_left(ranks)

    def test_an_interrupt_stops_all(self):
        process = self.long_calibration()
        ranks = children_of(process.pid)
        process.send_signal(signal.SIGINT)
        error = self.finish(process, 130)
        self.assertNotIn("rank", error)
        self.check_nothing_is_left(ranks)


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
