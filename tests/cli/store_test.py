#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`mase search --store s3://...` on a server of the package moto, which the program `aws` reaches; skipped without either.

usage: store_test.py --mase BINARY --source ROOT [unittest arguments]
"""

import argparse
import contextlib
import hashlib
import importlib.util
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import tomllib
import unittest
import zipfile
from pathlib import Path

MASE = SOURCE = None
EXAMPLE = "configs/examples/jsc_toy_by_type.toml"
SECRET = "not-for-messages"
# A search whose points become hardware.
IN_INTEGERS = """
model = "jsc-tiny"
dataset = "jsc"
[search.prepare.fuse_batch_norm]
[search.search_space]
name = "graph/quantize/mixed_precision_ptq"
[search.search_space.setup]
by = "type"
[search.search_space.seed.default.config]
name = ["integer"]
data_in_width = [4, 8]
data_in_frac_width = [3]
weight_width = [8]
weight_frac_width = [6]
bias_width = [8]
bias_frac_width = [6]
[search.strategy]
name = "optuna"
[search.strategy.sw_runner.basic_evaluation]
[search.strategy.hw_runner.average_bitwidth]
[search.strategy.setup]
n_trials = 3
sampler = "random"
[search.strategy.metrics]
average_bitwidth.direction = "minimize"
"""


def program_aws():
    """That of scripts/setup, or of PATH."""
    beside = str(Path(sys.executable).parent)
    return shutil.which("aws", path=beside) or shutil.which("aws")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """An S3 server in memory. It can be paused, which keeps its contents, and killed."""

    def __init__(self):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self.port)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while not self.answers():
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise RuntimeError("the server did not start")
            time.sleep(0.05)

    def answers(self):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def stop(self):
        self.process.kill()
        self.process.wait()


class Store(unittest.TestCase):
    """Each case has a bucket and a folder; what a host keeps is in a home of its own."""

    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.addClassCleanup(cls.server.stop)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = Path(folder.name)
        self.bucket = "bucket-" + hashlib.sha256(self.id().encode()).hexdigest()[:12]
        self.store = f"s3://{self.bucket}/study"
        self.aws("s3", "mb", f"s3://{self.bucket}")

    def environment(self, home="home", **more):
        (self.out / home).mkdir(exist_ok=True)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "XDG_"))}
        return {
            **kept,
            "PATH": f"{Path(program_aws()).parent}{os.pathsep}{kept['PATH']}",
            "HOME": str(self.out / home),
            "OMP_NUM_THREADS": "1",
            "AWS_ENDPOINT_URL": self.server.url,
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_MAX_ATTEMPTS": "1",
            **more,
        }

    def aws(self, *words, cwd=None):
        command = [program_aws(), *words]
        return subprocess.run(
            command, env=self.environment(), check=True, capture_output=True, text=True, cwd=cwd
        ).stdout

    def files(self):
        """The names of all objects of the bucket."""
        lines = self.aws("s3", "ls", "--recursive", f"s3://{self.bucket}/").splitlines()
        return {line.split(maxsplit=3)[3] for line in lines}

    def mase(self, *words, code=0, cwd=None, **more):
        result = subprocess.run(
            [str(MASE), *map(str, words)],
            cwd=cwd or SOURCE,
            env=self.environment(**more),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        self.said = said = result.stdout + result.stderr
        self.assertEqual(result.returncode, code, f"{words}\n{said}")
        self.assertNotIn(SECRET, said)
        return result.stdout if code == 0 else result.stderr

    def words(self, *words, project="p", store=None, trials=8):
        place = ("--project-dir", self.out, "--project", project, "--store", store or self.store)
        return ("search", "--config", EXAMPLE, *place, "--n-trials", trials, *words)

    def search(self, *words, project="p", store=None, trials=8, code=0, **more):
        command = self.words("--json", *words, project=project, store=store, trials=trials)
        text = self.mase(*command, code=code, **more)
        return json.loads(text) if code == 0 else text

    def best_of(self, document):
        return {f"{self.store}/best/trial_{entry['number']}" for entry in document["best"].values()}

    def shown(self, **more):
        """The addresses of the best points, as the store says them."""
        shown = json.loads(self.mase("study", "show", "--storage", self.store, "--json", **more))
        return {row["address"] for row in shown["best"]}

    def test_any_host_shows_any_best_point(self):
        document = self.search()
        self.assertEqual(self.shown(home="other"), self.best_of(document))
        for result in ("best.json", "trials.csv", "report.html"):
            local = (self.out / "p/software/search" / result).read_text()
            self.assertEqual(self.aws("s3", "cp", f"{self.store}/{result}", "-"), local)
        entry = document["best"]["0"]
        point = f"{self.store}/best/trial_{entry['number']}"
        about = json.loads(self.aws("s3", "cp", point + "/point.json", "-"))
        self.assertEqual(about["values"], entry["value"])
        # The model of the point is that of the trial, and its configuration makes it again.
        local = self.out / f"p/software/search/best/trial_{entry['number']}/graph_module.pt"
        self.assertIn("differences: 0 in nodes, 0 in tensors", self.mase("diff", point, local, home="other"))
        place = ("--project-dir", self.out, "--project", "again")
        self.mase("transform", "--config", point + "/transform.toml", *place, home="other")
        made = self.out / "again/software/transform/transformed_ckpt/graph_module.pt"
        # Without a folder of its own it writes where the command runs, not where the search ran.
        self.mase("transform", "--config", point + "/transform.toml", "--project", "here", home="other", cwd=self.out)
        self.assertTrue((self.out / "mase_output/here/software/transform/transformed_ckpt/config.toml").exists())
        self.assertIn("differences: 0 in nodes, 0 in tensors", self.mase("diff", made, point, home="other"))
        tested = self.mase("test", point, "jsc", "--level", "quantized", *place, home="other")
        self.assertIn("accuracy", tested)
        # What is in the cache and was changed is copied again.
        (cached,) = (self.out / "other/.cache/mase/store").rglob("graph_module.pt")
        whole = cached.read_bytes()
        self.assertEqual(hashlib.sha256(whole).hexdigest(), about["files"]["graph_module.pt"]["sha256"])
        cached.write_bytes(whole[:-1])
        self.mase("show", point, home="other")
        self.assertEqual(cached.read_bytes(), whole)
        # A point that was changed in the store, or is not complete, is refused.
        (self.out / "x").write_text("x")
        self.aws("s3", "cp", str(self.out / "x"), point + "/graph_module.pt")
        self.assertIn("is not the file that point.json beside it describes", self.mase("show", point, code=3))
        self.aws("s3", "rm", point + "/point.json")
        self.assertIn("no such point, or not yet all of it", self.mase("show", point, code=3))
        self.assertFalse(list((self.out / "home").rglob("graph_module.pt")))
        # Another study does not take its place, be it of the same name.
        before = self.files()
        text = self.search(project="q", code=2)
        self.assertIn("has the best points of another study, 'p'; name another folder of the store (--store)", text)
        shutil.rmtree(self.out / "p")
        self.assertIn("another study, 'p' of another database", self.search(code=2))
        self.assertEqual(self.files(), before)

    def test_the_commands_of_the_page(self):
        """Those of the section in docs/search.md run, with a database, a data set and a trial that are here."""
        page = (SOURCE / "docs/search.md").read_text(encoding="utf-8")
        section = page.split("\n## A store for all hosts\n")[1].split("\n## ")[0]
        (block,) = re.findall(r"```sh\n(.*?)```", section, re.DOTALL)
        (copying,) = re.findall(r"`aws (s3 cp .*?)`", section)
        self.bucket, self.store = "models", "s3://models/mixed"
        self.aws("s3", "mb", "s3://models")
        (self.out / "search.toml").write_text(IN_INTEGERS)
        commands = [line.split(" #")[0] for line in block.splitlines()]
        here = {"postgresql://user@host/db": f"sqlite:///{self.out}/study.db", " mnist": " jsc", "trial_12": None}
        said = []
        for command in commands:
            for there, ours in here.items():
                self.assertIn(there, block)
                command = command.replace(there, ours or there)
            program, *words = command.split()
            self.assertEqual(program, "mase")
            said.append(self.mase(*words, cwd=self.out))
            (best,) = self.shown()
            here["trial_12"] = best.rsplit("/", 1)[1]
        self.assertEqual([command.split()[1] for command in commands], ["search", "study", "test", "emit", "transform"])
        self.assertIn(here["trial_12"], said[1])
        self.assertIn("accuracy", said[2])
        self.assertTrue(list((self.out / "mase_output/onward/hardware").rglob("*.sv")))
        self.assertTrue(list((self.out / "mase_output/reproduced").rglob("graph_module.pt")))
        self.aws(*copying.split(), cwd=self.out)
        (report,) = (self.out / "mase_output").rglob("search/report.html")
        self.assertEqual((self.out / "report.html").read_bytes(), report.read_bytes())

    def test_copies_take_a_limited_space(self):
        document = self.search()
        (point,) = self.best_of(document)
        cache = self.out / "home/.cache/mase/store"
        old = {"first": 4e5, "second": 3e5, "third": 2e5, "recent": 0}

        def show(limit, code=0):
            """Shows the point beside copies of 1 MB, which were used so many seconds ago; returns those that stay."""
            for name, age in old.items():
                (cache / name).mkdir(parents=True, exist_ok=True)
                (cache / name / "graph_module.pt").write_bytes(bytes(1000000))
                for path in (cache / name / "graph_module.pt", cache / name):
                    os.utime(path, (time.time() - age,) * 2)
            said = self.mase("show", point, code=code, MASE_STORE_CACHE=limit)
            return {path.name for path in cache.iterdir()} & set(old) if code == 0 else said

        self.assertEqual(show(""), set(old))
        self.assertEqual(show("1e3"), set(old))
        (copy,) = cache.glob("*[0-9]*/graph_module.pt")
        size = copy.stat().st_size / 1e9
        self.assertEqual(show(str(0.0039 + size)), {"second", "third", "recent"})
        self.assertEqual(show(str(0.0029 + size)), {"third", "recent"})
        self.assertEqual(show("0"), {"recent"})
        self.assertTrue(copy.exists())
        # A copy that is used becomes the newest, one that is not used goes.
        os.utime(copy, (1, 1))
        os.utime(copy.parent, (1, 1))
        self.assertEqual(show("0"), {"recent"})
        self.assertTrue(copy.exists())
        for wrong in ("much", "-1", "nan"):
            self.assertIn(f"MASE_STORE_CACHE is '{wrong}', but must be the GB", show(wrong, code=2))

    def test_workers_share_the_store(self):
        database = ("--storage", f"sqlite:///{self.out}/study.db", "--study", "p")
        self.mase(*self.words("--trials-only", *database, project="none"))
        self.assertFalse((self.out / "none").exists())
        names = {name for name in self.files() if name.endswith("point.json")}
        best = self.shown()
        self.assertTrue(
            best and {f"{address}/point.json" for address in best} <= {f"s3://{self.bucket}/{n}" for n in names}
        )
        # Launched workers go on with the study. What is in the store is not replaced.
        before = {name: self.aws("s3", "cp", f"s3://{self.bucket}/{name}", "-") for name in names}
        document = self.search(*database, "--launch", "local:2", trials=12)
        self.assertEqual(self.shown(), self.best_of(document))
        after = {name: self.aws("s3", "cp", f"s3://{self.bucket}/{name}", "-") for name in names}
        self.assertEqual(before, after)

    def test_points_of_other_workers_come_from_the_store(self):
        """Checkpoints have the name of the project that made them."""
        database = ("--storage", f"sqlite:///{self.out}/study.db", "--study", "p")
        self.mase(*self.words("--trials-only", *database, project="worker"))
        (best,) = self.shown()
        self.assertEqual(self.maker("first", best), "worker")
        (self.out / "x").write_text("x")
        self.aws("s3", "cp", str(self.out / "x"), best + "/graph_module.pt")
        self.assertEqual(self.maker("second", best), "second")
        self.assertRegex(
            self.said, "trial \\d+ is measured again: .* is not the file that point.json beside it describes"
        )
        # One that is missing is measured, and copied to the store.
        self.aws("s3", "rm", best + "/point.json")
        self.assertEqual(self.maker("third", best), "third")
        self.assertEqual(self.maker("fourth", best), "third")

    def maker(self, project, point):
        """The project that made the checkpoint which a search in a new project has of a point."""
        self.mase(*self.words("--storage", f"sqlite:///{self.out}/study.db", "--study", "p", project=project))
        local = self.out / project / "software/search/best" / point.rsplit("/", 1)[1]
        self.assertTrue((local / "transform.toml").exists())
        with zipfile.ZipFile(local / "graph_module.pt") as archive:
            (name,) = (name for name in archive.namelist() if name.endswith("extra/mase/info.json"))
            return tomllib.loads(json.loads(archive.read(name))["configuration"])["project"]

    def test_what_is_wrong_is_named_before_a_trial(self):
        quick = ("--storage-timeout", 0)
        closed = f"http://user:{SECRET}@127.0.0.1:{free_port()}"
        self.assertIn("AWS_PROFILE", self.search(code=3, AWS_PROFILE="nobody"))
        down = self.search(*quick, code=3, AWS_ENDPOINT_URL=closed)
        self.assertIn("is its server up, and is AWS_ENDPOINT_URL", down)
        text = self.search(store=f"s3://{self.bucket}-gone/x", code=3)
        self.assertIn("make the bucket: `aws s3 mb", text)
        self.assertEqual(self.trials(), 0)
        (self.out / "nothing").mkdir()
        text = self.search(code=3, PATH=str(self.out / "nothing"))
        self.assertIn("cannot find aws; install it, for example with `pip install awscli`", text)

    def trials(self):
        shown = self.mase("study", "list", "--storage", self.out / "p/software/search/study.db", "--json")
        return sum(sum(study.get("trials", {}).values()) for study in json.loads(shown)["studies"])

    def test_addresses(self):
        for address in ("s3://", "s3://a//b", "s3://a/../b", "s3:/a", "gs://a/b", "/a"):
            self.assertIn("s3://BUCKET/PREFIX", self.search(store=address, code=2), address)
            self.assertFalse((self.out / "p/software/search/study.db").exists())
        text = self.search(store=f"s3://key:{SECRET}@bucket/x", code=2)
        self.assertIn("the address of a store has no keys", text)
        self.assertIn("there is no study in the store", self.mase("show", self.store, code=3))

    def processes(self):
        """The command lines of this case that still run."""
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_bytes().split(b"\0")
                if os.fsencode(self.out) in words:
                    found.append(words)
        return found

    def test_ctrl_c_ends_the_wait_for_a_store(self):
        closed = f"http://127.0.0.1:{free_port()}"
        process = subprocess.Popen(
            [str(MASE), *map(str, self.words())],
            cwd=SOURCE,
            env=self.environment(AWS_ENDPOINT_URL=closed),
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(process.kill)
        for line in process.stderr:
            if "is tried again" in line:
                break
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=300)
        self.assertEqual(process.returncode, 130)
        deadline = time.monotonic() + 30  # of the 60 seconds for which the store would be tried again
        while self.processes() and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertEqual(self.processes(), [])

    def test_a_store_that_goes_away_loses_no_trial(self):
        server = Server()
        self.addCleanup(server.stop)
        environment = {"AWS_ENDPOINT_URL": server.url}
        subprocess.run(
            [program_aws(), "s3", "mb", f"s3://{self.bucket}"], env=self.environment(**environment), check=True
        )
        process = subprocess.Popen(
            [str(MASE), *map(str, self.words("--storage-timeout", 0, trials=60))],
            cwd=SOURCE,
            env=self.environment(**environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.addCleanup(process.kill)
        listing = [program_aws(), "s3", "ls", "--recursive", self.store + "/"]
        while process.poll() is None:
            seen = subprocess.run(
                listing, env=self.environment(**environment), capture_output=True, text=True, check=False
            )
            if "study.json" in seen.stdout:
                break
        server.process.send_signal(signal.SIGKILL)
        said, _ = process.communicate(timeout=600)
        self.assertEqual(process.returncode, 3, said)
        self.assertIn("is not in the store", said)
        self.assertIn("the same command tries it again", said)
        self.assertEqual(self.trials(), 60)
        # A store that is new in the same place gets what is missing.
        document = self.search(trials=60)
        self.assertEqual(self.shown(), self.best_of(document))


def main():
    global MASE, SOURCE
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mase", required=True, type=Path)
    parser.add_argument("--source", required=True, type=Path)
    options, others = parser.parse_known_args()
    MASE, SOURCE = options.mase.resolve(), options.source.resolve()
    missing = [name for name in ("moto", "flask_cors") if not importlib.util.find_spec(name)]
    if not program_aws():
        missing.append("aws")
    if missing:
        print(f"skipped: {', '.join(missing)} not installed (scripts/setup installs moto and awscli)")
        return 77
    return 0 if unittest.main(argv=[sys.argv[0], *others], exit=False).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
