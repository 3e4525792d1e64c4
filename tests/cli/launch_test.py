#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`mase search --launch`: workers that a search starts, follows, stops and outlives.

usage: launch_test.py --mase BINARY --source ROOT [unittest arguments]
"""

import argparse
import contextlib
import csv
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

MASE = SOURCE = None

# Trials of a known length: a program that sleeps measures them.
SEARCH = """
model = "jsc-tiny"
dataset = "jsc"
[metrics.nap]
command = "sh -c 'sleep {seconds}; echo 1' nap {{outputs}}"
[search.search_space]
name = "graph/quantize/mixed_precision_ptq"
[search.search_space.setup]
by = "type"
[search.search_space.seed.linear.config]
name = ["integer"]
data_in_width = [9, 10, 11, 12, 13, 14, 15, 16, 17, 18]
data_in_frac_width = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
weight_width = [9, 10, 11, 12, 13, 14, 15, 16, 17, 18]
weight_frac_width = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
[search.strategy]
name = "optuna"
[search.strategy.sw_runner.basic_evaluation]
num_samples = 16
[search.strategy.setup]
sampler = "random"
heartbeat = 0.2
[search.strategy.metrics]
nap.direction = "minimize"
"""


class Launch(unittest.TestCase):
    """Each case has a folder for its search."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = Path(folder.name)
        self.addCleanup(self.end_workers)

    def write_search(self, seconds=0.2):
        path = self.out / "search.toml"
        path.write_text(SEARCH.format(seconds=seconds), encoding="utf-8")

    def command(self, *words):
        place = ("--config", self.out / "search.toml", "--project-dir", self.out, "--project", "p")
        return [str(word) for word in (MASE, "search", *place, *words)]

    def start(self, *words, **more):
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
        return subprocess.Popen(self.command(*words), cwd=SOURCE, text=True, **pipes, **more)

    def finish(self, process, code=0):
        out, error = process.communicate(timeout=600)
        self.assertEqual(process.returncode, code, out + error)
        return error if code else out

    def search(self, *words, code=0, **more):
        return self.finish(self.start(*words, **more), code)

    def workers(self):
        """The numbers of the processes that run trials of this case."""
        found = {}
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            if b"--trials-only" in words and str(self.out).encode() in words and b"mase" in words[0]:
                found[int(entry.name)] = parent
        # A program that a worker starts looks like the worker until it is executed.
        return [worker for worker, parent in found.items() if parent not in found]

    def end_workers(self):
        for worker in self.workers():
            os.kill(worker, signal.SIGKILL)

    def wait_until(self, event, launcher=None):
        while not event():
            if launcher and launcher.poll() is not None:
                self.fail("it has ended: " + "".join(launcher.communicate()))
            time.sleep(0.02)

    def rows(self):
        with open(self.out / "p/software/search/trials.csv", newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def check_complete(self, count):
        """So many trials were measured; one of a dead worker stands once more as its retry."""
        rows = self.rows()
        self.assertEqual([int(row["number"]) for row in rows], list(range(len(rows))))
        states = [row["state"] for row in rows]
        self.assertEqual(states.count("COMPLETE"), count, states)
        self.assertEqual(states.count("COMPLETE") + states.count("FAIL"), len(rows), states)
        return rows

    def log(self, name):
        return (self.out / "p/software/search/workers" / name).read_text()

    def measured(self):
        """The number of trials that are complete so far."""
        try:
            with sqlite3.connect(f"file:{self.out}/p/software/search/study.db?mode=ro", uri=True) as database:
                return database.execute("select count(*) from trials where state = 'COMPLETE'").fetchone()[0]
        except sqlite3.OperationalError:  # not there yet, or locked
            return 0


class Clocks(Launch):
    """A worker on a host whose clock is two minutes behind, as the database shows it."""

    def database(self):
        return sqlite3.connect(self.out / "p/software/search/study.db", timeout=60)

    def change(self, command, *values):
        with contextlib.closing(self.database()) as database, database:
            return database.execute(command, values).lastrowid

    def beat(self, trial):
        old = "strftime('%Y-%m-%d %H:%M:%f', 'now', '-2 minutes')"
        self.change(f"insert or replace into trial_heartbeats (trial_id, heartbeat) values (?, {old})", trial)

    def state(self, trial):
        with contextlib.closing(self.database()) as database:
            return database.execute("select state from trials where trial_id = ?", (trial,)).fetchone()[0]

    def test_it_is_alive_as_long_as_its_heartbeats_come(self):
        self.write_search(0)
        self.search("--n-trials", 2)
        trial = self.change("insert into trials (number, study_id, state) values (2, 1, 'RUNNING')")
        self.beat(trial)
        process = self.start("--n-trials", 3, "--heartbeat", 2)
        watch = time.monotonic() + 8
        while time.monotonic() < watch:
            self.beat(trial)
            self.assertEqual(self.state(trial), "RUNNING")
            time.sleep(0.1)
        self.assertIsNone(process.poll())
        # Once they end, the trial is another's.
        self.finish(process)
        self.assertEqual(self.state(trial), "FAIL")
        self.check_complete(3)


class Local(Launch):
    def test_workers_share_the_trials_and_the_launcher_writes_the_report(self):
        self.write_search()
        out = self.search("--launch", "local:3", "--n-trials", 12)
        self.assertIn("12 trials: 12 complete", out)
        self.check_complete(12)
        self.assertTrue((self.out / "p/software/search/report.html").exists())
        for i in (1, 2, 3):
            self.assertNotIn("error", self.log(f"worker_{i}.log"))
        # Nothing is left to do: no worker starts.
        for i in (1, 2, 3):
            (self.out / f"p/software/search/workers/worker_{i}.log").unlink()
        self.assertIn("12 trials: 12 complete", self.search("--launch", "local:3", "--n-trials", 12))
        self.assertFalse((self.out / "p/software/search/workers/worker_1.log").exists())
        self.search("--launch", "local:2", "--n-trials", 14)
        self.check_complete(14)

    def test_ctrl_c_has_the_workers_finish_their_trials_and_the_same_command_goes_on(self):
        self.write_search()
        launcher = self.start("--launch", "local:2", "--n-trials", 500)
        self.wait_until(lambda: self.measured() >= 3, launcher)
        launcher.send_signal(signal.SIGINT)
        self.assertIn("the same command continues the study", self.finish(launcher, 130))
        self.assertEqual(self.workers(), [])
        rows = self.rows()
        self.assertNotIn("RUNNING", {row["state"] for row in rows})
        self.search("--launch", "local:2", "--n-trials", len(rows) + 3)
        self.assertEqual({row["state"] for row in self.check_complete(len(rows) + 3)}, {"COMPLETE"})

    def test_two_launchers_of_one_study_keep_what_their_workers_print_apart(self):
        self.write_search(0.5)
        words = ("--launch", "local:1", "--n-trials", 12)
        first = self.start(*words)
        self.wait_until(self.measured, first)
        self.search(*words)
        self.finish(first)
        self.check_complete(12)
        logs = {path.name for path in (self.out / "p/software/search/workers").iterdir()}
        self.assertEqual(logs, {"worker_1.log", "worker_1_2.log"})

    def test_workers_of_a_killed_launcher_finish_the_study(self):
        self.write_search()
        launcher = self.start("--launch", "local:2", "--n-trials", 12)
        self.wait_until(lambda: self.measured() >= 2, launcher)
        launcher.kill()
        launcher.communicate()
        self.assertEqual(len(self.workers()), 2)
        self.search("--launch", "local:1", "--n-trials", 12)
        self.wait_until(lambda: not self.workers())
        self.assertEqual({row["state"] for row in self.check_complete(12)}, {"COMPLETE"})

    def test_a_worker_that_is_killed_is_named_and_the_others_do_its_trial(self):
        self.write_search()
        launcher = self.start("--launch", "local:2", "--n-trials", 12)
        self.wait_until(lambda: self.measured() >= 2 and len(self.workers()) == 2, launcher)
        os.kill(self.workers()[0], signal.SIGKILL)
        _, error = launcher.communicate(timeout=600)
        self.assertEqual(launcher.returncode, 0, error)
        self.assertRegex(error, r"warning: worker [12] ended with status 137")
        self.check_complete(12)

    def test_workers_that_fail_at_once_end_the_search_with_what_they_said(self):
        self.write_search()
        error = self.search("--launch", "local:2", "--worker-memory", "0.1", code=3)
        self.assertRegex(error, r"no worker finished a trial: worker [12] ended with status 3: .*--max-memory")

    def test_printed_commands_start_the_same_workers(self):
        self.write_search(0)
        script = self.search("--launch", "local:2", "--n-trials", 6, "--worker-time", 500, "--print")
        self.assertFalse((self.out / "p").exists())
        self.assertEqual(script.count("--trials-only"), 2)
        self.assertEqual(script.count("--timeout 500"), 2)
        self.search("--n-trials", 1)
        subprocess.run(["sh", "-e"], input=script, capture_output=True, cwd=SOURCE, text=True, check=True)
        self.search("--n-trials", 6)
        self.check_complete(6)

    def test_what_is_wrong_is_said_before_anything_starts(self):
        self.write_search()
        for words, message in (
            (["--launch", "locla:2"], "did you mean 'local'?"),
            (["--launch", "local"], "from 1 to 1024, not ''"),
            (["--launch", "local:0"], "from 1 to 1024, not '0'"),
            (["--worker-cores", "2"], "--worker-cores needs --launch"),
            (["--print"], "--print requires --launch"),
        ):
            self.assertIn(message, self.search(*words, code=2))
        self.assertFalse((self.out / "p").exists())


class Kubernetes(Launch):
    """The manifest of a Job, which is the user's own."""

    def print_manifest(self, text, *words, code=0):
        self.write_search()
        path = self.out / "job.yaml"
        path.write_text(text)
        server = ("--storage", "postgresql://me@db/studies", "--print", "-q")
        printed = self.search("--launch", f"k8s:{path}", "--workers", 3, *server, *words, code=code)
        return printed if code else printed.partition("<<'END_OF_MANIFEST'\n")[2].partition("END_OF_MANIFEST")[0]

    def test_values_are_filled_in_and_lines_without_one_left_out(self):
        template = "a: ${name}\nb: ${workers}/${workers}\nc: ${command}\nd: ${cores}\ne: ${memory}\n# ${what}\n"
        manifest = self.print_manifest(template, "--worker-memory", 1.5).splitlines()
        self.assertEqual(
            [manifest[0], manifest[1], *manifest[3:]], ["a: mase-p", "b: 3/3", "e: 1536Mi", "# ${what}", ""]
        )
        command = json.loads(manifest[2].removeprefix("c: "))
        self.assertEqual(command[:4], ["mase", "search", "--config", str(self.out / "search.toml")])
        self.assertIn("--trials-only", command)

    def test_mistakes_are_told_with_their_line(self):
        complete = "${name} ${workers} ${command}\n"
        for text, words, message in (
            (complete + "x: ${command", [], "job.yaml:2: there is no value '${command'"),
            (complete + "x: ${worker}", [], "job.yaml:2: there is no value 'worker'"),
            ("${name} ${workers}", [], "job.yaml has no ${command}, which every Job of workers needs"),
            (complete, ["--worker-gpus", 1], "job.yaml has no ${gpus}, which --worker-gpus sets"),
        ):
            self.assertIn(message, self.print_manifest(text, *words, code=2))

    def test_the_shipped_manifest_has_the_schema_of_kubernetes(self):
        validate = os.environ.get("MASE_KUBERNETES_VALIDATE") or shutil.which("kubernetes-validate")
        if not validate:
            self.skipTest("without kubernetes-validate; MASE_KUBERNETES_VALIDATE may name it")
        shipped = (SOURCE / "configs/launch/kubernetes.yaml").read_text()
        limits = ["--worker-cores", 2, "--worker-memory", 4, "--worker-gpus", 1, "--worker-time", 60]
        for words in ([], limits):
            path = self.out / "filled.yaml"
            path.write_text(self.print_manifest(shipped, *words))
            done = subprocess.run([validate, "--strict", path], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertNotIn("${", path.read_text().partition("apiVersion")[2])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--mase", type=Path, required=True)
    parser.add_argument("--source", type=Path, required=True)
    options, rest = parser.parse_known_args()
    MASE, SOURCE = options.mase.resolve(), options.source.resolve()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
