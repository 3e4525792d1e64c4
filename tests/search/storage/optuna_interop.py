#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that mase and the real Optuna share studies: what one writes the other reads and
continues, both work on one study at once, and optuna-dashboard shows it. On SQLite, and on
PostgreSQL where it is installed. Exit status 77 where no Python has optuna.
"""

import argparse
import datetime
import json
import logging
import math
import multiprocessing
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request
import warnings
import wsgiref.simple_server

SKIPPED = 77
HERE = pathlib.Path(__file__).resolve().parent

try:
    import optuna
except ImportError:
    optuna = None

TOOL = ""
CHOICES = ["a", 2, 0.5, None, True]


def objective(trial):
    x = trial.suggest_float("x", -1, 1)
    n = trial.suggest_int("n", 1, 64, log=True)
    trial.suggest_categorical("c", CHOICES)
    trial.report(x, 1)
    trial.set_user_attr("worker", "optuna")
    return x * x + n


def tool(*words):
    command = [TOOL, *(str(word) for word in words)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def python_worker(url, name, count):
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    optuna.load_study(storage=url, study_name=name).optimize(objective, n_trials=count)


def milliseconds(moment):
    return None if moment is None else moment.timestamp() * 1000


class Interop(unittest.TestCase):
    """Every test has an empty database at self.url."""

    server = None

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="mase-interop-")
        self.addCleanup(self.folder.cleanup)
        self.url = "sqlite:///" + self.folder.name + "/study.db"
        if self.server:
            plain = self.new_database(self.id().rsplit(".", 1)[1])
            self.url = plain.replace("://", "+psycopg2://")  # SQLAlchemy's spelling

    def new_database(self, name):
        import psycopg2

        connection = psycopg2.connect(self.server + "/postgres")
        connection.autocommit = True
        connection.cursor().execute("CREATE DATABASE " + name)
        connection.close()
        return self.server + "/" + name

    def load(self, name):
        return optuna.load_study(storage=self.url, study_name=name)

    def check_numbers(self, trials, count):
        self.assertEqual([trial.number for trial in trials], list(range(count)))

    def test_python_reads_what_mase_wrote(self):
        before = datetime.datetime.now() - datetime.timedelta(seconds=1)
        tool("write", self.url, "s")
        study = self.load("s")
        self.assertEqual([d.name for d in study.directions], ["MINIMIZE", "MAXIMIZE"])
        self.assertEqual(study.metric_names, ["loss", "bits"])
        self.assertEqual(study.user_attrs, {"config": {"ü": [1, 2.5, None, True]}})
        self.check_numbers(study.trials, 7)
        self.assertEqual(
            [trial.state.name for trial in study.trials], ["COMPLETE"] * 3 + ["FAIL", "PRUNED", "RUNNING", "WAITING"]
        )
        first = study.trials[0]
        self.assertEqual(first.values, [0.25, 8])
        self.assertEqual(first.params, {"float": 0.1, "log": 1 / 3, "step": 0.75, "int": 6, "n": 64, "c": None})
        distributions = optuna.distributions
        self.assertEqual(
            first.distributions,
            {
                "float": distributions.FloatDistribution(-1.5, 2),
                "log": distributions.FloatDistribution(1e-5, 1, log=True),
                "step": distributions.FloatDistribution(0, 1, step=0.25),
                "int": distributions.IntDistribution(2, 8, step=2),
                "n": distributions.IntDistribution(1, 64, log=True),
                "c": distributions.CategoricalDistribution(CHOICES),
            },
        )
        self.assertTrue(math.isnan(first.intermediate_values[1]))
        self.assertEqual((first.intermediate_values[2], first.intermediate_values[3]), (-math.inf, 0.1))
        self.assertEqual(first.user_attrs, {"bits": 4.5})
        self.assertEqual(first.system_attrs["grid_id"], 7)
        self.assertEqual(study.trials[2].values, [math.inf, -math.inf])
        self.assertEqual(study.trials[3].user_attrs, {"reason": "NaN"})
        self.assertEqual(study.trials[6].system_attrs["fixed_params"], {"c": "a"})
        for trial in study.trials[:5]:
            self.assertLessEqual(before, trial.datetime_start)
            self.assertLessEqual(trial.datetime_start, trial.datetime_complete)
            self.assertLessEqual(trial.datetime_complete, datetime.datetime.now())
        # The second trial misses a constraint; the third is worse in both objectives.
        self.assertEqual([trial.number for trial in study.best_trials], [0])

    def test_mase_reads_what_python_wrote(self):
        sampler = optuna.samplers.TPESampler(seed=1, constraints_func=lambda _: (0.5, -1.0, 1.0))
        study = optuna.create_study(storage=self.url, study_name="s", sampler=sampler, direction="maximize")
        study.set_user_attr("ü", {"a": [1, None]})
        study.set_user_attr("strange", [math.nan, math.inf])
        study.enqueue_trial({"x": 0.5, "c": None}, user_attrs={"who": "me"})
        study.optimize(objective, n_trials=12)

        def prune(trial):
            trial.report(math.nan, 3)
            raise optuna.TrialPruned

        study.optimize(prune, n_trials=1)
        study.optimize(lambda trial: math.nan, n_trials=1)
        study.enqueue_trial({"x": 0.25})
        dump = json.loads(tool("dump", self.url, "s"))
        self.assertEqual(dump["directions"], ["maximize"])
        self.assertEqual(dump["user"]["ü"], {"a": [1, None]})
        self.assertEqual(len(dump["trials"]), 15)
        for trial, seen in zip(study.trials, dump["trials"]):
            self.compare(trial, seen)
        self.assertEqual(dump["trials"][0]["violation"], 1.5)

    def compare(self, trial, seen):
        self.assertEqual(seen["number"], trial.number)
        self.assertEqual(seen["state"], trial.state.name)
        self.assertEqual(seen["params"], trial.params)
        self.assertEqual(seen["user"], trial.user_attrs)
        self.assertEqual(
            {
                name: optuna.distributions.json_to_distribution(json.dumps(text))
                for name, text in seen["distributions"].items()
            },
            trial.distributions,
        )
        self.assertEqual([float(value) for value in seen["values"]], trial.values or [])
        self.assertEqual(
            {int(step): str(float(value)) for step, value in seen["intermediate"].items()},
            {step: str(value) for step, value in trial.intermediate_values.items()},
        )
        self.assertEqual(set(seen["system"]), set(trial.system_attrs))
        for key, moment in (("start", trial.datetime_start), ("complete", trial.datetime_complete)):
            if moment is None:
                self.assertIsNone(seen[key])
            else:
                self.assertLess(abs(seen[key] - milliseconds(moment)), 1.5)

    def test_one_continues_the_others_study(self):
        optuna.create_study(storage=self.url, study_name="s").optimize(objective, n_trials=5)
        tool("work", self.url, "s", 5)
        study = self.load("s")
        study.enqueue_trial({"x": 0.125, "n": 9, "c": "a"})
        tool("work", self.url, "s", 1)
        study.optimize(objective, n_trials=12)
        self.check_numbers(study.trials, 23)
        self.assertEqual(study.trials[10].params, {"x": 0.125, "n": 9, "c": "a"})
        self.assertEqual(
            [trial.user_attrs["worker"] for trial in study.trials], ["optuna"] * 5 + ["mase"] * 6 + ["optuna"] * 12
        )

    def test_both_work_on_one_study_at_once(self):
        study = optuna.create_study(storage=self.url, study_name="s")
        for i in range(16):
            study.enqueue_trial({"n": i + 1})
        mase = [subprocess.Popen([TOOL, "work", self.url, "s", "15"]) for _ in range(2)]
        context = multiprocessing.get_context("spawn")
        python = [context.Process(target=python_worker, args=(self.url, "s", 10)) for _ in range(2)]
        for worker in python:
            worker.start()
        for worker in python:
            worker.join()
        self.assertEqual([worker.wait() for worker in mase], [0, 0])
        self.assertEqual([worker.exitcode for worker in python], [0, 0])
        trials = study.trials
        self.check_numbers(trials, 50)
        self.assertEqual({trial.state.name for trial in trials}, {"COMPLETE"})
        self.assertEqual([trial.params["n"] for trial in trials[:16]], list(range(1, 17)))
        workers = [trial.user_attrs["worker"] for trial in trials]
        self.assertEqual((workers.count("mase"), workers.count("optuna")), (30, 20))

    def heartbeat_storage(self):
        return optuna.storages.RDBStorage(
            self.url,
            heartbeat_interval=1,
            grace_period=1,
            failed_trial_callback=optuna.storages.RetryFailedTrialCallback(),
        )

    def test_python_retries_a_trial_of_a_dead_mase_worker(self):
        tool("work", self.url, "s", 2)
        tool("die", self.url, "s")
        study = optuna.load_study(storage=self.heartbeat_storage(), study_name="s")
        time.sleep(2.2)  # the resolution of Optuna's clock is a second in SQLite
        optuna.storages.fail_stale_trials(study)
        self.assertEqual([trial.state.name for trial in study.trials[2:]], ["FAIL", "WAITING"])
        tool("work", self.url, "s", 1)
        retried = study.trials[3]
        self.assertEqual(retried.params, study.trials[2].params)
        self.assertEqual(retried.user_attrs["worker"], "mase")

    def test_mase_retries_a_trial_of_a_dead_python_worker(self):
        storage = self.heartbeat_storage()
        study = optuna.create_study(storage=storage, study_name="s")
        study.optimize(objective, n_trials=2)
        dead = study.ask()
        x = dead.suggest_float("x", -1, 1)
        storage.record_heartbeat(dead._trial_id)
        self.assertEqual(tool("retry", self.url, "s", 3600), "0\n")
        time.sleep(2.2)
        self.assertEqual(tool("retry", self.url, "s", 1), "1\n")
        study.optimize(objective, n_trials=1)
        trials = self.load("s").trials
        self.assertEqual([trial.state.name for trial in trials[2:]], ["FAIL", "COMPLETE"])
        self.assertEqual(trials[3].params["x"], x)
        callback = optuna.storages.RetryFailedTrialCallback
        self.assertEqual(callback.retried_trial_number(trials[3]), 2)
        self.assertEqual(callback.retry_history(trials[3]), [2])

    def test_python_reads_after_mase_was_killed(self):
        tool("work", self.url, "s", 1)
        for _ in range(5):
            worker = subprocess.Popen([TOOL, "work", self.url, "s", "100000"])
            time.sleep(0.5)
            worker.send_signal(signal.SIGKILL)
            worker.wait()
        study = self.load("s")
        study.optimize(objective, n_trials=2)
        trials = study.trials
        self.check_numbers(trials, len(trials))
        running = [trial for trial in trials if trial.state.name == "RUNNING"]
        self.assertLessEqual(len(running), 5)

    def test_a_copy_of_the_file_is_whole(self):
        if self.server:
            self.skipTest("a server has no file")
        tool("work", self.url, "s", 5)
        shutil.copy(self.folder.name + "/study.db", self.folder.name + "/copy.db")
        copy = optuna.load_study(storage="sqlite:///" + self.folder.name + "/copy.db", study_name="s")
        self.check_numbers(copy.trials, 5)

    def test_the_tables_on_postgresql_are_those_of_optuna(self):
        if not self.server:
            self.skipTest("the C++ tests compare SQLite's")
        sys.path.insert(0, str(HERE))
        import with_postgres

        optuna.storages.RDBStorage(self.url)
        other = self.new_database("made_by_mase")
        tool("work", other, "s", 0)
        program = os.path.join(with_postgres.programs(), "pg_dump")

        def tables(url):
            dump = subprocess.run(
                [program, "--schema-only", url.replace("+psycopg2", "")], check=True, text=True, stdout=subprocess.PIPE
            ).stdout
            # Lines of \restrict hold a random word.
            return [line for line in dump.splitlines() if not line.startswith("\\")]

        self.assertEqual(tables(self.url), tables(other))

    def test_the_dashboard_shows_a_study_of_mase(self):
        try:
            import optuna_dashboard
        except ImportError:
            self.skipTest("optuna-dashboard is not installed")
        tool("write", self.url, "s")
        app = optuna_dashboard.wsgi(self.url)

        class Quiet(wsgiref.simple_server.WSGIRequestHandler):
            def log_message(self, *_):
                pass

        server = wsgiref.simple_server.make_server("127.0.0.1", 0, app, handler_class=Quiet)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)

        def get(path):
            address = f"http://127.0.0.1:{server.server_port}/api/{path}"
            with urllib.request.urlopen(address) as answer:
                return json.load(answer)

        summaries = get("studies")["study_summaries"]
        self.assertEqual([summary["study_name"] for summary in summaries], ["s"])
        detail = get(f"studies/{summaries[0]['study_id']}?after=0")
        self.assertEqual(detail["name"], "s")
        self.assertEqual(detail["directions"], ["minimize", "maximize"])
        self.assertEqual([trial["number"] for trial in detail["trials"]], list(range(7)))
        self.assertEqual(detail["trials"][0]["values"], [0.25, 8])


class InteropOnPostgresql(Interop):
    """The same on the server that with_postgres.py started."""

    server = os.environ.get("MASE_TEST_POSTGRESQL")


def run(case):
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    logging.getLogger("wsgi").setLevel(logging.ERROR)
    warnings.simplefilter("ignore")
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(case)
    result = unittest.TextTestRunner(verbosity=2, warnings="ignore").run(suite)
    return 0 if result.wasSuccessful() else 1


def run_on_postgresql(words):
    try:
        import psycopg2  # noqa: F401
    except ImportError:
        print("PostgreSQL skipped: no psycopg2 beside optuna")
        return 0
    driver = [sys.executable, "-B", str(HERE / "with_postgres.py")]
    code = subprocess.run([*driver, sys.executable, "-B", __file__, *words, "--postgresql"], check=False).returncode
    return 0 if code == SKIPPED else code


def has_optuna(python):
    return subprocess.run([python, "-c", "import optuna"], stderr=subprocess.DEVNULL, check=False).returncode == 0


def main():
    global TOOL
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True, help="the program storage_tool")
    parser.add_argument("--python", default="", help="a Python with optuna")
    parser.add_argument("--postgresql", action="store_true", help="run inside with_postgres.py")
    arguments = parser.parse_args()
    TOOL = arguments.tool
    if optuna is None:
        python = os.environ.get("MASE_OPTUNA_PYTHON") or arguments.python
        if not python or not shutil.which(python) or not has_optuna(python):
            print("skipped: no Python with optuna; name one in MASE_OPTUNA_PYTHON")
            return SKIPPED
        return subprocess.run([python, "-B", __file__, *sys.argv[1:]], check=False).returncode
    if arguments.postgresql:
        return run(InteropOnPostgresql)
    return run(Interop) or run_on_postgresql(["--tool", TOOL])


if __name__ == "__main__":
    sys.exit(main())
