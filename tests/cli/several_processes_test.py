#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Training on several processes of this machine, connected by gloo.

usage: several_processes_test.py --mase BINARY --source ROOT
"""

import argparse
import array
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile
from pathlib import Path

MASE = SOURCE = None
# Layer norms and a softmax.
NETWORK = ["--dataset", "jsc", "--training-optimizer", "sgd", "-q"]


def numbers_of(checkpoint):
    """All float32 numbers of a checkpoint."""
    values = array.array("f")
    with zipfile.ZipFile(checkpoint) as file:
        for entry in sorted(n for n in file.namelist() if "/data/" in n):
            values.frombytes(file.read(entry))
    return values


def weights(folder, name="last.pt"):
    return numbers_of(folder / "software/training_ckpts" / name)


def children_of(pid):
    return [int(c) for c in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


class SeveralProcesses(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = Path(self.scratch.name)

    def start(self, project, *words, network=NETWORK, **more):
        if "--dataset" in words:
            network = network[2:]
        network = network if "--model" in words else [*network, "--model", "transformer-jets"]
        command = [MASE, "train", *network, "--project-dir", self.folder, "--project", project, *map(str, words)]
        return subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)

    def finish(self, process, code=0):
        out, error = process.communicate(timeout=300)
        self.assertEqual(process.returncode, code, out + error)
        return error if code else out

    def train(self, project, *words, code=0):
        return self.finish(self.start(project, *words), code)

    def figures(self, project):
        record = json.loads((self.folder / project / "records/train.json").read_text())
        return record["document"]["epochs"]

    def check_same(self, one, several):
        """The sums of a step's gradients differ in their order only: each by at most 2^-24 of the sum of sizes for
        each of at most 700 rows, that is 4.2e-5 of a gradient's mean size. With a learning rate of 0.001 and a momentum
        of 0.9, n steps move a weight by at most 0.01 n times that size. Gradients here stay below 1."""
        steps = self.figures(one)[-1]["step"]
        mine, theirs = weights(self.folder / one), weights(self.folder / several)
        self.assertEqual(len(mine), len(theirs))
        worst = max(abs(a - b) for a, b in zip(mine, theirs, strict=True))
        self.assertLessEqual(worst, 4.2e-5 * 0.01 * steps)
        for mine, theirs in zip(self.figures(one), self.figures(several), strict=True):
            self.assertAlmostEqual(mine["train_loss"], theirs["train_loss"], delta=1e-5)
            self.assertAlmostEqual(mine["validation_loss"], theirs["validation_loss"], delta=1e-5)

    def test_the_weights_are_those_of_one_process_with_the_whole_batch(self):
        self.train("one", "--max-epochs", 4, "--batch-size", 192)
        for count in (2, 3):  # 124 rows in the last batch: 41, 41 and 42 for three
            self.train(f"of{count}", "--max-epochs", 4, "--batch-size", 192 // count, "--nproc", count)
            self.check_same("one", f"of{count}")

    def test_a_last_batch_may_have_fewer_rows_than_there_are_processes(self):
        self.train("one", "--max-epochs", 2, "--batch-size", 699)
        self.train("three", "--max-epochs", 2, "--batch-size", 233, "--nproc", 3)
        self.check_same("one", "three")

    def test_batch_norms_see_the_rows_of_all_processes(self):
        """The last batch of jets has 4 rows for 6 processes. The other model takes images."""
        for words, size, counts in (
            (["--model", "jsc-mlp"], 696, (2, 6)),
            (["--model", "lenet", "--dataset", "mnist"], 48, (3,)),
        ):
            name = words[1]
            self.train(name, *words, "--max-steps", 6, "--batch-size", size)
            for count in counts:
                several = f"{name}-{count}"
                self.train(several, *words, "--max-steps", 6, "--batch-size", size // count, "--nproc", count)
                self.check_same(name, several)

    def test_dropout_of_a_row_does_not_depend_on_the_number_of_processes(self):
        words = ["--model", SOURCE / "tests/fixtures/models/dropout_mlp/dropout_mlp.script.pt"]
        words += ["--max-epochs", 2, "--accumulate-grad-batches", 2]
        self.train("one", *words, "--batch-size", 96)
        for count in (2, 3):
            self.train(f"of{count}", *words, "--batch-size", 96 // count, "--nproc", count)
            self.check_same("one", f"of{count}")

    def test_gradients_are_accumulated_over_batches(self):
        words = ["--max-epochs", 2, "--accumulate-grad-batches", 2, "--gradient-clip", 0.5, "--ema-decay", 0.9]
        self.train("one", *words, "--batch-size", 128)
        self.train("two", *words, "--batch-size", 64, "--nproc", 2)
        self.check_same("one", "two")

    def test_resumed_with_another_number_of_processes(self):
        self.train("whole", "--max-epochs", 3, "--batch-size", 128)
        self.train("parts", "--max-epochs", 1, "--batch-size", 64, "--nproc", 2)
        self.train("parts", "--max-epochs", 2, "--batch-size", 32, "--nproc", 4, "--resume")
        error = self.train("parts", "--max-epochs", 3, "--batch-size", 64, "--resume", code=2)
        self.assertIn("batch_size (was 128, is 64)", error)
        self.train("parts", "--max-epochs", 3, "--batch-size", 128, "--resume")
        self.check_same("whole", "parts")

    def test_resumed_below_the_current_folder(self):
        """No word of the command is the path of the project, so the sandbox of each process must know it."""
        command = [MASE, "train", "jsc-tiny", *NETWORK, "--project", "own", "--nproc", "2", "--batch-size", "64"]
        for words in (["--max-epochs", "1"], ["--max-epochs", "2", "--resume"]):
            ended = subprocess.run([*command, *words], cwd=self.folder, capture_output=True, text=True, timeout=300)
            self.assertEqual(ended.returncode, 0, ended.stderr)
        self.train("whole", "--model", "jsc-tiny", "--max-epochs", 2, "--batch-size", 128)
        self.check_same("whole", "mase_output/own")

    def test_classes_are_weighed_over_all_processes(self):
        config = self.folder / "weights.toml"
        config.write_text("class_weights = [1, 0.25, 4, 2, 0.5]\n")
        words = ["--max-epochs", 2, "--config", config]
        self.train("one", *words, "--batch-size", 192)
        self.train("three", *words, "--batch-size", 64, "--nproc", 3)
        self.check_same("one", "three")

    def check_bits(self, one, several):
        for name in ("best.pt", "last.pt"):
            self.assertEqual(weights(self.folder / one, name), weights(self.folder / several, name))
        self.assertEqual(self.figures(one), self.figures(several))

    def test_shards_have_the_same_bits_in_any_number_of_processes(self):
        """A step has 240 rows in 12 shards, and the last one of an epoch 220. The first network has layer norms, and
        the second one batch norms."""
        for model in ("transformer-jets", "jsc-s"):
            words = ["--model", model, "--shards", 12, "--class-weights", "balanced"]
            self.train(f"{model}-1", *words, "--max-epochs", 2, "--batch-size", 240)
            for count in (3, 5):  # 5 processes have 2 or 3 shards each
                self.train(
                    f"{model}-{count}", *words, "--max-epochs", 2, "--batch-size", 240 // count, "--nproc", count
                )
                self.check_bits(f"{model}-1", f"{model}-{count}")
            self.train(f"{model}-parts", *words, "--max-epochs", 1, "--batch-size", 120, "--nproc", 2)
            self.train(f"{model}-parts", *words, "--max-epochs", 2, "--batch-size", 60, "--nproc", 4, "--resume")
            self.check_bits(f"{model}-1", f"{model}-parts")

    def test_shards_by_messages(self):
        words = ["--max-epochs", 2, "--batch-size", 96, "--shards", 5]
        self.train("memory", *words, "--nproc", 2)
        self.ranks("messages", words, words)
        self.check_bits("memory", "messages")

    def test_fewer_shards_than_processes_are_refused(self):
        self.assertIn("shards = 2: there are 3 processes", self.train("few", "--shards", 2, "--nproc", 3, code=2))

    def test_rank_0_alone_prints_and_writes(self):
        out = self.train("quiet", "--max-epochs", 2, "--batch-size", 64, "--nproc", 3)
        self.assertEqual(out.count("epoch 2/2"), 1, out)
        self.assertEqual(len(list((self.folder / "quiet/software/tensorboard").iterdir())), 1)

    def long_training(self, project):
        process = self.start(project, "--max-epochs", 100000, "--batch-size", 64, "--nproc", 2)
        while not (self.folder / project / "software/training_ckpts/last.pt").exists():
            self.assertIsNone(process.poll())
            time.sleep(0.02)
        return process

    def test_a_process_that_dies_is_named_and_the_others_end(self):
        process = self.long_training("killed")
        ranks = children_of(process.pid)
        victim = next(c for c in ranks if b"RANK=1\0" in Path(f"/proc/{c}/environ").read_bytes())
        os.kill(victim, signal.SIGKILL)
        self.assertIn("rank 1 was ended by signal 9", self.finish(process, 3))
        for child in ranks:
            self.assertFalse(Path(f"/proc/{child}").exists())
        self.assertGreater(len(weights(self.folder / "killed")), 0)

    def test_an_interrupt_stops_all_where_they_can_go_on(self):
        process = self.long_training("stopped")
        process.send_signal(signal.SIGINT)
        error = self.finish(process, 130)
        self.assertIn("--resume goes on from there", error)
        self.assertEqual(error.count("once more ends at once"), 1, error)

    def test_a_value_may_be_called_like_the_option(self):
        self.train("--nproc", "--max-epochs", 1, "--batch-size", 64, "--nproc", 2)
        self.assertEqual(self.figures("--nproc")[-1]["step"], 6)  # of 700 rows, 128 in a step

    def test_processes_of_another_launcher_start_no_others(self):
        place = {**os.environ, "WORLD_SIZE": "2", "RANK": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "9"}
        error = self.finish(self.start("twice", "--nproc", 2, env=place), 2)
        self.assertIn("this is rank 1 of 2 processes that another launcher has started; leave --nproc out", error)

    def ranks(self, place, *words_of_each, code=0):
        """Two processes that a launcher would start; the port is free while they run. They have no memory to share."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            common = {**os.environ, "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1"}
            common |= {"MASTER_PORT": str(listener.getsockname()[1]), "MASE_LISTENER": str(listener.fileno())}
            started = [
                self.start(
                    place, *words, "--timeout", 60, env=common | {"RANK": str(rank)}, pass_fds=[listener.fileno()]
                )
                for rank, words in enumerate(words_of_each)
            ]
        return [self.finish(process, code) for process in started]

    def test_sums_in_shared_memory_have_the_bits_of_sums_by_messages(self):
        words = ["--max-epochs", 2, "--batch-size", 64]
        self.train("memory", *words, "--nproc", 2)
        self.ranks("messages", words, words)
        self.assertEqual(weights(self.folder / "memory"), weights(self.folder / "messages"))

    def test_processes_that_disagree_are_refused(self):
        for difference, message in (
            (["--learning-rate", "0.5"], "rank 1 has learning_rate = 0.5, and rank 0 0.001"),
            (["--seed", "1"], "rank 1 has seed = 1, and rank 0 0"),
            (["--model", "jsc-toy"], "rank 1 has another model than rank 0"),
        ):
            errors = self.ranks("apart", [], difference, code=2)
            for error in errors:
                self.assertIn(message, error)

    def test_a_process_that_waits_in_vain_says_where(self):
        place = {**os.environ, "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1"}
        with socket.create_server(("127.0.0.1", 0)) as stranger:
            place["MASTER_PORT"] = str(stranger.getsockname()[1])
            first = self.start("alone", "--timeout", 1, env=place | {"RANK": "0"})
            self.assertIn("another program uses the port", self.finish(first, 3))
            second = self.start("alone", "--timeout", 1, env=place | {"RANK": "1"})
            self.assertIn(f"127.0.0.1:{place['MASTER_PORT']} within 1 s", self.finish(second, 3))

    def test_an_environment_without_a_place_to_meet(self):
        for names in (("RANK", "WORLD_SIZE"), ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS")):
            environment = {**os.environ, names[0]: "1", names[1]: "2"}
            self.assertIn("set MASTER_ADDR", self.finish(self.start("nowhere", env=environment), 2))
            environment[names[0]] = "2"
            self.assertIn("a whole number from 0 to 1", self.finish(self.start("nowhere", env=environment), 2))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--mase", required=True)
    parser.add_argument("--source", required=True)
    arguments, rest = parser.parse_known_args()
    MASE, SOURCE = arguments.mase, Path(arguments.source)
    unittest.main(argv=[sys.argv[0], *rest])
