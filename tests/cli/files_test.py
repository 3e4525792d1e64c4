#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the program does to files and streams when the machine, another process or a stranger's folder is in its way.

usage: files_test.py --mase BINARY --source ROOT [unittest arguments]
"""

import argparse
import json
import os
import shutil
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


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.cwd = Path(folder.name)

    def run_mase(self, *arguments, code=0, variables=None, **options):
        result = subprocess.run(
            [str(MASE), *map(str, arguments)],
            env={**os.environ, "OMP_NUM_THREADS": "1", **(variables or {})},
            stdin=subprocess.DEVNULL,
            **{
                "cwd": self.cwd,
                "stdout": subprocess.PIPE,
                "stderr": subprocess.PIPE,
                "text": True,
                "check": False,
                **options,
            },
        )
        self.assertEqual(result.returncode, code, f"{arguments}\n{result.stdout}\n{result.stderr}")
        return result


class StandardOutput(InFolder):
    commands = (
        ("show", "jsc-tiny"),
        ("list", "passes", "--json"),
        ("list", "formats"),
        ("doctor",),
        ("doctor", "--json"),
        ("test", "jsc-tiny", "jsc", "--rows", "8", "-q"),
        ("test", "jsc-tiny", "jsc", "--rows", "8", "-q", "--json"),
        ("help", "train"),
        ("train", "--help"),
        ("--version",),
        ("manual",),
        ("completion", "bash"),
    )

    def test_what_a_full_device_does_not_take_is_an_error(self):
        for command in self.commands:
            with open("/dev/full", "w") as full:
                said = self.run_mase(*command, code=3, stdout=full).stderr
            self.assertIn("cannot write to standard output: No space left on device", said, command)

    def test_a_closed_stdout_is_an_error_and_no_file_takes_its_place(self):
        train = ("train", "jsc-tiny", "jsc", "--max-epochs", "1", "--project", "p")
        said = self.run_mase(*train, code=3, stdout=None, preexec_fn=lambda: os.close(1)).stderr
        self.assertIn("cannot write to standard output: Bad file descriptor", said)
        # The training is whole: only what it said about itself is lost.
        self.run_mase("test", "mase_output/p/software/training_ckpts/best.pt", "jsc", "--rows", "8")

    def test_a_command_that_fails_says_why_rather_than_that_it_cannot_print(self):
        with open("/dev/full", "w") as full:
            said = self.run_mase("test", "no-such-model", "jsc", code=2, stdout=full).stderr
        self.assertNotIn("standard output", said)

    def test_a_reader_that_has_gone_ends_the_program_as_it_ends_other_tools(self):
        def into_nobody(code, **options):
            reading, writing = os.pipe()
            os.close(reading)
            try:
                return self.run_mase("manual", code=code, stdout=writing, **options)
            finally:
                os.close(writing)

        into_nobody(-signal.SIGPIPE)
        # Where whoever starts it ignores the signal, the error of the system is left.
        ignoring = into_nobody(
            3, restore_signals=False, preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        )
        self.assertIn("Broken pipe", ignoring.stderr)


class OutputsThatAreInputs(InFolder):
    def setUp(self):
        super().setUp()
        fixtures = SOURCE / "tests/fixtures/models/jsc_s"
        shutil.copy(fixtures / "jsc_s.script.pt", self.cwd / "m.pt")
        shutil.copy(fixtures / "inputs.npy", self.cwd / "x.npy")
        (self.cwd / "alias.npy").symlink_to("x.npy")
        os.link(self.cwd / "x.npy", self.cwd / "second-name.npy")

    def refused(self, *command, kept="x.npy", remedy="--overwrite"):
        before = (self.cwd / kept).read_bytes()
        said = self.run_mase(*command, code=2).stderr
        self.assertIn("is read by this command", said)
        self.assertIn(remedy, said)
        self.assertEqual((self.cwd / kept).read_bytes(), before)

    def test_an_array_is_replaced_only_when_that_is_asked_for(self):
        for same in ("x.npy", "./x.npy", "../" + self.cwd.name + "/x.npy", "alias.npy", "second-name.npy"):
            self.refused("quantize", "x.npy", same)
            self.refused("quantize", "x.npy", "q.npy", "--codes", same)
        self.refused("quantize", "alias.npy", "x.npy")
        self.assertFalse((self.cwd / "q.npy").exists())
        # Codes of blocks have their shared exponents in a file beside them.
        shutil.copy(self.cwd / "x.npy", self.cwd / "c.shared.npy")
        blocks = ("--format", "mxfp4(block_size=16)", "--codes", "c.npy")
        self.refused("quantize", "c.shared.npy", "q.npy", *blocks, kept="c.shared.npy")
        self.run_mase("quantize", "x.npy", "x.npy", "--overwrite")
        self.assertIn("name another", self.run_mase("quantize", "x.npy", "q.npy", "--codes", "q.npy", code=2).stderr)
        self.run_mase("quantize", "x.npy", "new.npy")
        self.run_mase("quantize", "x.npy", "new.npy")  # made again, nothing is lost

    def test_a_model_and_its_inputs_stay(self):
        run = ("run", "m.pt", "--input", "x.npy", "--output")
        self.refused(*run, "m.pt", kept="m.pt")
        self.refused(*run, "alias.npy")
        self.refused("run", "m.pt", "--input", "x=x.npy", "--output", "x.npy")
        self.refused("show", "m.pt", "--input", "x.npy", "-o", "m.pt", kept="m.pt")
        self.refused("show", "m.pt", "--input", "x.npy", "-o", "second-name.npy")
        self.run_mase("show", "m.pt", "--input", "x.npy", "-o", "second-name.npy", "--overwrite")
        self.run_mase("init", "m.pt", "--input", "x.npy", "-o", "m.pt", code=2)

    def test_records_and_databases_stay(self):
        self.run_mase("train", "jsc-tiny", "jsc", "--max-epochs", "1", "--project", "p", "-q")
        record = "mase_output/p/records/train.json"
        self.refused("report", "mase_output/p", "-o", record, kept=record)
        config = SOURCE / "configs/search/jsc_three_linear_channels.toml"
        self.run_mase("search", "--config", config, "--project", "s", "--n-trials", "1", "-q")
        database = "mase_output/s/software/search/study.db"
        for url in (database, f"sqlite:///{database}"):
            self.refused("study", "export", "--storage", url, "-o", database, kept=database)


class LinksInProjects(InFolder):
    """A project folder of a stranger that holds links."""

    train = (
        "train",
        "jsc-tiny",
        "jsc",
        "--max-epochs",
        "1",
        "--overwrite",
        "-q",
        "--project",
        "p",
        "--project-dir",
        ".",
    )

    def setUp(self):
        super().setUp()
        self.secret = self.cwd / "secret"
        self.secret.mkdir()
        (self.secret / "kept").write_text("mine")

    def refused(self, place, target, *command):
        """With a link at `place` of the project; nothing is written outside of the project."""
        link = self.cwd / "p" / place
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(target)
        said = self.run_mase(*command, code=3).stderr
        self.assertIn("leads out of", said, (place, command))
        self.assertEqual(sorted(path.name for path in self.secret.iterdir()), ["kept"])
        self.assertEqual((self.secret / "kept").read_text(), "mine")
        self.assertEqual(
            {path.name for path in self.cwd.iterdir()} - {"q.toml", "best.pt", "quantized.pt"}, {"p", "secret"}
        )
        shutil.rmtree(self.cwd / "p")

    def test_a_training_stays_in_its_project(self):
        kept, nothing = self.secret / "kept", self.secret / "nothing"
        for place, target in (
            ("software/training_ckpts/config.toml", kept),
            ("software/training_ckpts/config.toml", nothing),
            ("software/training_ckpts/best.pt", kept),
            ("software/training_ckpts/last.pt", "../../../secret/nothing"),
            ("software/training_ckpts", self.secret),
            ("software", self.secret),
            ("software", nothing),
            ("software/tensorboard", self.secret),
            ("records", self.secret),
            ("records/train.json", kept),
        ):
            self.refused(place, target, *self.train)
        (self.cwd / "p").mkdir()
        (self.cwd / "p/.mase.lock").symlink_to(kept)
        self.assertIn(".mase.lock", self.run_mase(*self.train, code=3).stderr)
        self.assertEqual(kept.read_text(), "mine")

    def test_transform_emit_search_and_report_stay_in_their_project(self):
        kept = self.secret / "kept"
        self.run_mase(*self.train)
        os.rename(self.cwd / "p/software/training_ckpts/best.pt", self.cwd / "best.pt")
        shutil.rmtree(self.cwd / "p")
        shutil.copy(SOURCE / "configs/hardware/jsc_tiny.toml", self.cwd / "q.toml")
        here = ("-q", "--project", "p", "--project-dir", ".")
        transform = ("transform", "jsc-tiny", "jsc", "--config", "q.toml", "--load", "best.pt", "--overwrite", *here)
        for place in (
            "software/transform/transformed_ckpt/graph_module.pt",
            "software/transform/transformed_ckpt/config.toml",
            "records/transform.json",
        ):
            self.refused(place, kept, *transform)
        self.refused("software/transform", self.secret, *transform)
        self.run_mase(*transform)
        os.rename(self.cwd / "p/software/transform/transformed_ckpt/graph_module.pt", self.cwd / "quantized.pt")
        shutil.rmtree(self.cwd / "p")
        emit = ("emit", "quantized.pt", *here)
        for place, target in (
            ("hardware", self.secret),
            ("hardware/rtl", self.secret),
            ("hardware/design.json", kept),
            ("records/emit.json", kept),
        ):
            self.refused(place, target, *emit)
        channels = SOURCE / "configs/search/jsc_three_linear_channels.toml"
        search = ("search", "--config", channels, "--n-trials", "1", *here)
        for place in ("study.db", "study.db-journal", "report.html", "best.json"):
            self.refused("software/search/" + place, kept, *search)
        (self.cwd / "p/records").mkdir(parents=True)
        (self.cwd / "p/records/train.json").write_text("{}")
        self.refused("report.html", kept, "report", "p")

    def test_the_list_of_an_earlier_emission_removes_nothing_behind_a_link(self):
        shutil.copy(SOURCE / "configs/hardware/jsc_tiny.toml", self.cwd / "q.toml")
        here = ("-q", "--project", "p", "--project-dir", ".")
        self.run_mase("transform", "jsc-tiny", "jsc", "--config", "q.toml", *here)
        emit = ("emit", "p/software/transform/transformed_ckpt/graph_module.pt", *here)
        self.run_mase(*emit)
        hardware = self.cwd / "p/hardware"
        design = json.loads((hardware / "design.json").read_text())
        for name in ("out/kept", "rtl/stale.sv"):
            design["files"][name] = "0" * 64
        (hardware / "design.json").write_text(json.dumps(design))
        (hardware / "rtl/stale.sv").write_text("")
        (hardware / "out").symlink_to(self.secret)
        self.assertIn("leads out of", self.run_mase(*emit, code=3).stderr)
        (hardware / "out").unlink()
        (hardware / "design.json").write_text(json.dumps(design))
        self.run_mase(*emit)
        self.assertFalse((hardware / "rtl/stale.sv").exists())
        self.assertEqual((self.secret / "kept").read_text(), "mine")


class MovedProjects(InFolder):
    """Configurations in a project work where the project lies now, and leave the place where it was alone."""

    SEARCH = """
model = "jsc-tiny"
dataset = "jsc"
[search.search_space]
name = "graph/quantize/mixed_precision_ptq"
[search.search_space.setup]
by = "type"
[search.search_space.seed.default.config]
name = ["integer"]
data_in_width = [3, 8]
data_in_frac_width = ["auto"]
weight_width = [8]
weight_frac_width = ["auto"]
[search.strategy]
name = "optuna"
[search.strategy.sw_runner.RUNNER]
[search.strategy.setup]
n_trials = 2
sampler = "random"
[search.strategy.metrics]
loss.direction = "minimize"
"""

    def check_same(self, one, other):
        self.assertIn("differences: 0 in nodes, 0 in tensors", self.run_mase("diff", one, other).stdout)

    def move(self, project, copy=False):
        """Puts a project below another name into another folder; returns its folder."""
        new = self.cwd / "elsewhere/renamed"
        new.parent.mkdir()
        (shutil.copytree if copy else shutil.move)(self.cwd / "out" / project, new)
        if not copy:
            shutil.rmtree(self.cwd / "out")
        return new

    def test_a_transformation(self):
        for folder in ("out", str(self.cwd / "out")):
            with self.subTest(folder):
                place = ("--project-dir", folder, "--project", "p")
                self.run_mase("train", "jsc-tiny", "jsc", "--max-epochs", "1", *place)
                (self.cwd / "q.toml").write_text(
                    'model = "jsc-tiny"\n[passes.quantize.linear.config]\nname = "integer"\ndata_in_width = 8\n'
                )
                self.run_mase("transform", "--config", "q.toml", "--load", f"{folder}/p", *place)
                result = self.move("p") / "software/transform/transformed_ckpt"
                shutil.copy(result / "graph_module.pt", self.cwd / "first.pt")
                # The same settings, so that nothing need be overwritten; from any folder.
                said = self.run_mase("transform", "--config", result / "config.toml", cwd="/").stderr
                self.assertIn("lies in the project", said)
                self.check_same(result / "graph_module.pt", self.cwd / "first.pt")
                other = self.run_mase("transform", "--config", result / "config.toml", "--seed", "5", code=2).stderr
                self.assertIn("--overwrite replaces it", other)
                self.assertFalse((self.cwd / "out").exists())
                # Once more, where the file says the right place already.
                self.assertNotIn("lies in", self.run_mase("transform", "--config", result / "config.toml").stderr)
                shutil.rmtree(self.cwd / "elsewhere")

    def test_empty_names(self):
        config = self.cwd / "new/p/software/training_ckpts/config.toml"
        config.parent.mkdir(parents=True)
        for empty, code, words in (
            ("project_dir", 2, "project_dir is empty"),
            ("load_name", 3, "no such file (--load)"),
        ):
            settings = {"model": "jsc-tiny", "project_dir": "gone", "project": "p", "load_name": "none.pt", empty: ""}
            config.write_text("".join(f'{name} = "{value}"\n' for name, value in settings.items()))
            said = self.run_mase("train", "--config", config, "--dataset", "jsc", code=code).stderr
            self.assertIn(words, said)

    def test_a_copied_search_goes_on_and_its_points_are_made_again(self):
        for runner in ("basic_evaluation", "basic_train"):
            with self.subTest(runner):
                (self.cwd / "s.toml").write_text(self.SEARCH.replace("RUNNER", runner))
                place = ("--project-dir", "out", "--project", "p", "--max-epochs", "1")
                self.run_mase("search", "--config", "s.toml", *place)
                new = self.move("p", copy=True)
                before = {path: path.read_bytes() for path in (self.cwd / "out").rglob("*") if path.is_file()}
                command = ("search", "--config", new / "software/search/config.toml", "--n-trials", "4", "--json")
                document = json.loads(self.run_mase(*command).stdout)
                self.assertEqual(document["trials"], 4)
                after = {path: path.read_bytes() for path in (self.cwd / "out").rglob("*") if path.is_file()}
                self.assertEqual(after, before)
                shutil.rmtree(self.cwd / "out")
                for entry in document["best"].values():
                    toml = new / f"software/search/best/trial_{entry['number']}/transform.toml"
                    again = json.loads(self.run_mase("transform", "--config", toml, "--overwrite", "--json").stdout)
                    self.assertEqual([again["scores"]["loss"]], entry["value"])
                    made = new / "software/transform/transformed_ckpt/graph_module.pt"
                    self.check_same(made, toml.parent / "graph_module.pt")
                self.assertFalse((self.cwd / "out").exists())
                shutil.rmtree(self.cwd / "elsewhere")


class TwoAtOnce(InFolder):
    train = ("train", "jsc-s", "jsc", "--max-epochs", "400", "-q", "--project", "p")

    def start(self, *arguments, **variables):
        process = subprocess.Popen(
            [str(MASE), *map(str, arguments)],
            cwd=self.cwd,
            env={**os.environ, "OMP_NUM_THREADS": "1", **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def wait_for(self, path, process):
        while not path.exists():
            self.assertIsNone(process.poll(), f"ended before {path}")
            time.sleep(0.01)

    def test_a_second_command_in_a_project_is_refused_with_the_first_ones_process(self):
        folder = self.cwd / "mase_output/p"
        first = self.start(*self.train)
        self.wait_for(folder / "software/training_ckpts/last.pt", first)
        config = self.cwd / "mase_output/p/software/training_ckpts/config.toml"
        before = config.read_bytes()
        quantize = ("--config", SOURCE / "configs/hardware/jsc_tiny.toml", "--project", "p", "-q")
        for command in (
            ("train", "jsc-s", "jsc", "--seed", "9", "--overwrite", "--project", "p"),
            ("train", "jsc-s", "jsc", "--resume", "--project", "p"),
            ("transform", "jsc-s", "jsc", *quantize),
        ):
            said = self.run_mase(*command, code=3).stderr
            self.assertIn(f"process {first.pid} on host {socket.gethostname()} (mase train)", said)
            self.assertIn("mase_output/p' is in use", said)
        self.assertEqual(config.read_bytes(), before)
        # The remedy that it names, and what only reads.
        self.run_mase("train", "jsc-tiny", "jsc", "--max-epochs", "1", "--project", "another", "-q")
        self.run_mase("test", folder / "software/training_ckpts/last.pt", "jsc", "--rows", "8")
        first.kill()
        first.wait()
        self.assertTrue((folder / ".mase.lock").exists())
        self.run_mase("train", "jsc-s", "jsc", "--max-epochs", "1", "--overwrite", "--project", "p", "-q")
        self.assertFalse((folder / ".mase.lock").exists())

    def test_of_trainings_that_begin_together_one_is_done_and_the_others_are_refused(self):
        started = [
            self.start("train", "jsc-s", "jsc", "--max-epochs", "40", "--seed", seed, "-q", "--project", "p")
            for seed in (1, 2, 3)
        ]
        codes = [process.wait() for process in started]
        # One that begins when another has ended finds its result, which is refused as well.
        self.assertEqual(codes.count(0), 1, codes)
        self.assertLessEqual(set(codes), {0, 2, 3})
        seed = 1 + codes.index(0)
        folder = self.cwd / "mase_output/p/software/training_ckpts"
        self.assertIn(f"seed = {seed}\n", (folder / "config.toml").read_text())
        with zipfile.ZipFile(folder / "best.pt") as archive:
            name = next(n for n in archive.namelist() if n.endswith("extra/mase/info.json"))
            self.assertIn(f"seed = {seed}\\n", archive.read(name).decode())


class TemporaryFolders(InFolder):
    def test_a_missing_one_is_named(self):
        shutil.copy(SOURCE / "configs/hardware/jsc_tiny.toml", self.cwd / "q.toml")
        here = ("-q", "--project", "p", "--project-dir", ".")
        self.run_mase("transform", "jsc-tiny", "jsc", "--config", "q.toml", *here)
        checkpoint = "p/software/transform/transformed_ckpt/graph_module.pt"
        self.run_mase("emit", checkpoint, *here)
        (self.cwd / "file").write_text("")
        (self.cwd / "loop").symlink_to("loop")
        for place in ("/nonexistent", "file", "loop", "n" * 300):
            said = self.run_mase(
                "simulate", checkpoint, "--random", "4", *here, code=3, variables={"TMPDIR": place}
            ).stderr
            self.assertIn(place, said)
            self.assertIn("TMPDIR", said)


class NamesThatCannotBe(InFolder):
    def test_loops_of_links_and_long_names_are_errors_of_files(self):
        (self.cwd / "loop").symlink_to("loop")
        (self.cwd / "x.toml").write_text("")
        for bad in ("./loop", "loop/m.pt", "./" + "n" * 300 + ".pt", "./" + "d/" * 3000 + "m.pt"):
            for command in (
                ("show", bad),
                ("run", bad, "--input-shape", "1,16", "--output", "y.npy"),
                ("run", "jsc-tiny", "--input", bad, "--output", "y.npy"),
                ("run", "jsc-tiny", "--input-shape", "1,16", "--output", bad),
                ("show", "jsc-tiny", "-o", bad),
                ("quantize", bad, "y.npy"),
                ("test", "jsc-tiny", "jsc", "--load", bad),
                ("test", "jsc-tiny", "csv", "--data-dir", bad),
                ("diff", "jsc-tiny", bad),
                ("report", bad),
                ("init", bad, "jsc"),
                ("export", bad, "out"),
                ("export", "jsc-tiny", bad),
                ("emit", bad),
                ("simulate", bad, "--random", "4"),
                ("study", "list", "--storage", bad),
                ("train", "jsc-tiny", "jsc", "--max-epochs", "1", "--project-dir", bad),
            ):
                if command[-1] == bad and bad == "./loop" and command[0] in ("run", "show") and "jsc-tiny" in command:
                    continue  # a link that names nothing is replaced by the file
                self.run_mase(*command, code=3)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mase", type=Path, required=True)
    parser.add_argument("--source", type=Path, required=True)
    options, rest = parser.parse_known_args()
    MASE, SOURCE = options.mase.resolve(), options.source.resolve()
    unittest.main(argv=[sys.argv[0], *rest])
