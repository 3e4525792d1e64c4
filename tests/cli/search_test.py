#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`mase search` as a user meets it: the shipped searches, what they leave, stopping, killing and going on, many workers.

usage: search_test.py --mase BINARY --source ROOT [unittest arguments]

The cases with several hosts need a PostgreSQL server (tests/search/storage/with_postgres.py gives one); they are skipped without.
"""

import argparse
import contextlib
import csv
import json
import os
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse
from pathlib import Path

MASE = SOURCE = None
EXAMPLE = "configs/examples/jsc_toy_by_type.toml"
CHANNELS = "configs/search/jsc_three_linear_channels.toml"
COMBINED = "configs/search/jsc_three_linear_combined.toml"
HARDWARE_METRICS = {"latency": "last", "initiation_interval": "interval"}


class Search(unittest.TestCase):
    """Runs in the repository's root, so that the shipped configurations are named as a user names them."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = Path(folder.name)

    def command(self, *arguments):
        place = () if arguments[0] in ("study", "show") else ("--project-dir", str(self.out))
        return [str(MASE), *map(str, arguments), *place]

    def environment(self):
        return {**os.environ, "OMP_NUM_THREADS": "1"}

    def mase(self, *arguments, code=0):
        result = subprocess.run(
            self.command(*arguments),
            cwd=SOURCE,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(result.returncode, code, f"{arguments}\n{result.stdout}\n{result.stderr}")
        return result

    def search(self, config, project, *arguments, code=0):
        """The JSON document of a search."""
        result = self.mase("search", "--config", config, "--project", project, "--json", *arguments, code=code)
        return json.loads(result.stdout)

    def start(self, config, project, *arguments):
        process = subprocess.Popen(
            self.command("search", "--config", config, "--project", project, *arguments),
            cwd=SOURCE,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.addCleanup(process.kill)
        return process

    def folder(self, project):
        return self.out / project / "software" / "search"

    def trials(self, project):
        """Every trial as a row, without its times."""
        with open(self.folder(project) / "trials.csv", newline="", encoding="utf-8") as file:
            return [{k: v for k, v in row.items() if k != "seconds"} for row in csv.DictReader(file)]

    def edited(self, config, name, *replacements):
        text = (SOURCE / config).read_text(encoding="utf-8")
        for old, new in replacements:
            self.assertIn(old, text)
            text = text.replace(old, new)
        path = self.out / name
        path.write_text(text, encoding="utf-8")
        return path

    def with_seed(self, name, seed):
        """The shipped example by type, with these choices for its linear layers."""
        path = self.edited(EXAMPLE, name, ('by = "name"', 'by = "type"'))
        text = path.read_text(encoding="utf-8")
        begin, end = text.index("[search.search_space.seed.linear.config]"), text.index("[search.strategy]")
        seed = "[search.search_space.seed.linear.config]\n" + seed + "\n"
        path.write_text(text[:begin] + seed + text[end:], encoding="utf-8")
        return path


def best_values(document):
    return sorted(tuple(best["value"]) for best in document["best"].values())


class Formats(Search):
    def test_a_choice_of_formats_brings_its_own_parameters_and_every_trial_runs(self):
        document = self.search("configs/search/jsc_formats.toml", "formats", "--n-trials", "24")
        rows = self.trials("formats")
        self.assertEqual(document["trials"], 24)
        self.assertEqual({row["state"] for row in rows}, {"COMPLETE"})
        own = {"mxfp4": "data_in_block_size", "minifloat_ieee": "data_in_exponent_width", "integer": "data_in_width"}
        for row in rows:
            named = {k: v for k, v in row.items() if "module_list_2" in k and v != ""}
            chosen = next(v for k, v in named.items() if k.endswith("/name"))
            has = {key for key in own.values() if any(k.endswith(key) for k in named)}
            if chosen in own:
                self.assertIn(own[chosen], has, row)
            if chosen == "NA":
                self.assertEqual(has, set(), row)


class ShippedExample(Search):
    def test_18_configurations_by_brute_force_by_name_and_by_type_have_the_same_best(self):
        by_name = self.search(EXAMPLE, "name", "--sampler", "bruteforce")
        self.assertEqual(by_name["trials"], 18)
        by_type = self.edited(EXAMPLE, "type.toml", ('by = "name"', 'by = "type"'))
        other = self.search(by_type, "type", "--sampler", "bruteforce")
        self.assertEqual(other["trials"], 18)
        self.assertEqual(best_values(other), best_values(by_name))
        configurations = {tuple(v for k, v in row.items() if k.startswith("params")) for row in self.trials("name")}
        self.assertEqual(len(configurations), 18)

    def test_it_runs_verbatim_with_its_own_five_trials(self):
        document = self.search(EXAMPLE, "tpe")
        self.assertEqual(document["trials"], 5)
        self.assertGreaterEqual(len(document["best"]), 1)

    def test_the_folder_of_a_best_trial_keeps_the_arguments_that_cf_args_fix(self):
        config = self.out / "fixed.toml"
        config.write_text(
            """model = "tests/fixtures/programs/Options.pt"
dataset = "jsc"
[cf_args]
negate = true
[search.search_space]
name = "graph/quantize/mixed_precision_ptq"
[search.search_space.setup]
by = "type"
[search.search_space.seed.default.config]
name = ["integer", "NA"]
data_in_width = [8]
data_in_frac_width = [4]
[search.strategy]
name = "optuna"
[search.strategy.sw_runner.basic_evaluation]
[search.strategy.setup]
n_trials = 2
[search.strategy.metrics]
accuracy.direction = "maximize"
""",
            encoding="utf-8",
        )
        document = self.search(config, "fixed")
        for best, folder in zip(document["best"].values(), document["best_folders"]):
            again = self.mase("transform", "--config", f"{folder}/transform.toml", "--project", "again", "--json")
            self.assertEqual(json.loads(again.stdout)["scores"]["loss"], best["software_metrics"]["loss"])

    def test_only_an_untrained_model_whose_trials_do_not_train_it_is_warned_about(self):
        self.mase("train", "jsc-tiny", "jsc", "--max-epochs", "1", "--project", "t")
        trained = self.out / "t/software/training_ckpts/best.pt"
        for arguments, warned in (
            (("--config", EXAMPLE), True),
            (("--config", EXAMPLE, "--load", trained), False),
            (("--config", CHANNELS), False),
        ):
            told = self.mase("search", *arguments, "--dry-run", "--project", "p").stderr
            self.assertEqual("random weights" in told, warned, f"{arguments}\n{told}")

    def test_the_folder_of_every_best_trial_reproduces_the_reported_metrics_exactly(self):
        document = self.search(EXAMPLE, "p", "--sampler", "bruteforce")
        self.assertEqual(len(document["best"]), len(document["best_folders"]))
        for best, folder in zip(document["best"].values(), document["best_folders"]):
            again = json.loads(
                self.mase("transform", "--config", f"{folder}/transform.toml", "--project", "again", "--json").stdout
            )
            for metric in ("accuracy", "loss", "macro_accuracy"):
                self.assertEqual(again["scores"][metric], best["software_metrics"][metric])
            bits = next(p for p in again["passes"] if p["pass"] == "average_bits")["info"]["average_bitwidth"]
            self.assertEqual(bits, best["hardware_metrics"]["average_bitwidth"])
            tested = [
                json.loads(
                    self.mase("test", checkpoint, "jsc", "--split", "validation", "--project", "t", "--json").stdout
                )
                for checkpoint in (f"{folder}/graph_module.pt", again["checkpoint"])
            ]
            self.assertEqual(tested[0]["scores"], tested[1]["scores"])
            self.assertEqual(tested[0]["scores"]["accuracy"], best["software_metrics"]["accuracy"])

    def test_all_reports_are_there_and_say_the_same(self):
        document = self.search(EXAMPLE, "p")
        folder = self.folder("p")
        log = json.loads((folder / "log.json").read_text())
        self.assertEqual(sorted(map(int, log)), [0, 1, 2, 3, 4])
        self.assertEqual(json.loads((folder / "best.json").read_text()), document["best"])
        self.assertEqual(len(self.trials("p")), 5)
        page = (folder / "report.html").read_text()
        self.assertNotRegex(page, r"(src|href)=.https?:")
        for section in ("Formats of the best trial", "Parallel coordinates", "Workers"):
            self.assertIn(f"<h2>{section}</h2>", page)
        self.assertRegex(page, r"<title>[248] bits, integer\(")
        self.assertRegex(page, r"<h2>On the 150 test rows, which the search did not see")
        self.assertIn("accuracy", document["baseline"])
        self.assertRegex(page, r"Float model</dt><dd>[^<]*accuracy 0\.\d+")
        self.assertTrue(list((folder / "tensorboard").glob("events.*")))
        with sqlite3.connect(folder / "study.db") as database:
            self.assertEqual(database.execute("select count(*) from trials where state = 'COMPLETE'").fetchone(), (5,))

    def test_studies_are_listed_shown_exported_and_deleted(self):
        document = self.search(EXAMPLE, "p")
        storage = ("--storage", self.folder("p") / "study.db")
        listed = json.loads(self.mase("study", "list", *storage, "--json").stdout)["studies"]
        self.assertEqual([(study["name"], study["trials"]) for study in listed], [("p", {"complete": 5})])
        shown = json.loads(self.mase("study", "show", *storage, "--json").stdout)["best"]
        self.assertEqual(
            sorted(int(trial["number"]) for trial in shown),
            sorted(int(best["number"]) for best in document["best"].values()),
        )
        table = self.mase("study", "export", "p", *storage).stdout.splitlines()
        self.assertEqual(len(table), 1 + 5)
        self.assertEqual(table[0].split(",")[2:4], ["accuracy", "average_bitwidth"])
        self.mase("study", "export", *storage, "-o", self.out / "trials.json")
        trials = json.loads((self.out / "trials.json").read_text(encoding="utf-8"))
        self.assertEqual(sorted(table[0].split(",")), sorted(trials[0]))
        self.assertIn("'q'", self.mase("study", "delete", "q", *storage, code=2).stderr)
        self.mase("study", "delete", "p", *storage)
        self.assertEqual(json.loads(self.mase("study", "list", *storage, "--json").stdout)["studies"], [])

    def test_a_database_outside_of_the_project_is_named_by_its_path_or_as_a_url(self):
        with tempfile.TemporaryDirectory() as folder:
            for number, place in enumerate((f"{folder}/study.db", f"sqlite:///{folder}/study.db")):
                document = self.search(EXAMPLE, "p", "--storage", place, "--n-trials", 2 + number)
                self.assertEqual(document["trials"], 2 + number)

    def test_what_an_allocation_measured_is_kept_and_shown(self):
        self.search(EXAMPLE, "p", "--sampler", "allocate", "--n-jobs", "2")
        rows = list(csv.DictReader((self.folder("p") / "sensitivity.csv").open()))
        self.assertEqual(len(rows), 2 + 3 + 3)
        self.assertEqual(
            {row["Layer"] for row in rows}, {f"seq_blocks_2.{port}" for port in ("data_in", "weight", "bias")}
        )
        saved = [float(row["average_bitwidth"]) for row in rows if row["Layer"] == "seq_blocks_2.weight"]
        self.assertEqual(saved, sorted(saved))
        self.assertLess(saved[-1], 0)
        self.assertIn("Sensitivity</h2>", (self.folder("p") / "report.html").read_text())
        with sqlite3.connect(self.folder("p") / "study.db") as database:
            measured = database.execute(
                "select count(*) from trials join studies using (study_id)"
                " where study_name = 'p:sensitivity' and state = 'COMPLETE'"
            )
            self.assertEqual(measured.fetchone(), (9,))

    def test_the_best_are_measured_on_rows_that_the_search_did_not_see(self):
        document = self.search(EXAMPLE, "p")
        self.assertEqual(set(document["test"]), {str(best["number"]) for best in document["best"].values()})
        for number, metrics in document["test"].items():
            checkpoint = self.folder("p") / f"best/trial_{number}/graph_module.pt"
            tested = json.loads(self.mase("test", checkpoint, "jsc", "--project", "t", "--json").stdout)
            self.assertEqual(tested["scores"]["accuracy"], metrics["accuracy"])
            self.assertGreater(metrics["accuracy_drop_bound"], metrics["accuracy_drop"])
        self.assertNotIn("test", self.search(EXAMPLE, "p", "--confirm", "0"))
        seen = self.edited(EXAMPLE, "seen.toml", ("val_dataloader", "test_dataloader"))
        self.assertNotIn("test", self.search(seen, "seen"))

    def test_a_study_goes_on_with_another_sampler(self):
        self.search(EXAMPLE, "p", "--sampler", "random", "--n-trials", "3")
        again = self.mase("search", "--config", EXAMPLE, "--project", "p", "--sampler", "allocate", "--n-trials", "4")
        self.assertIn("continues with the sampler allocate from trial 3 on; before that it used random", again.stderr)
        allocated = len(self.trials("p"))
        self.assertTrue(3 < allocated <= 7, allocated)
        every = self.search(EXAMPLE, "p", "--sampler", "bruteforce")
        self.assertEqual(every["trials"], allocated + 18)
        configurations = {tuple(v for k, v in row.items() if k.startswith("params")) for row in self.trials("p")}
        self.assertEqual(len(configurations), 18)
        page = (self.folder("p") / "report.html").read_text()
        self.assertIn(f"<dd>random, allocate from trial 3 on, grid from trial {allocated} on</dd>", page)

    def test_a_study_refuses_another_value_of_what_is_fixed_beside_its_parameters(self):
        fixed = self.edited(EXAMPLE, "fixed.toml", ("bias_width = [2, 4, 8]", "bias_width = [8]"))
        self.search(fixed, "p", "--n-trials", "2")
        other = self.edited(EXAMPLE, "other.toml", ("bias_width = [2, 4, 8]", "bias_width = [6]"))
        refused = self.mase("search", "--config", other, "--project", "p", "--n-trials", "3", code=2).stderr
        self.assertRegex(refused, r"first_choice\.\S*bias_width: 8 in the study, 6 now")
        self.assertEqual(self.search(fixed, "p", "--n-trials", "3")["trials"], 3)
        with sqlite3.connect(self.folder("p") / "study.db") as database:
            # As an earlier version left it.
            key = "key = 'mase:configuration'"
            (text,) = database.execute(f"select value_json from study_system_attributes where {key}").fetchone()
            configuration = json.loads(text)
            del configuration["first_choice"]
            database.execute(
                f"update study_system_attributes set value_json = ? where {key}", (json.dumps(configuration),)
            )
        self.assertEqual(self.search(other, "p", "--n-trials", "4")["trials"], 4)

    def test_the_space_can_be_looked_at_first(self):
        document = self.search(EXAMPLE, "dry", "--dry-run")
        self.assertEqual(document["configurations"], 18)
        shown = self.mase("search", "--config", EXAMPLE, "--project", "dry", "--dry-run", "-q").stdout
        self.assertIn("[4,8]", shown)
        self.assertIn("[2,4,8]", shown)
        self.assertFalse((self.folder("dry") / "study.db").exists())


class OfInit(Search):
    def test_the_best_of_what_init_writes_can_be_emitted(self):
        config = self.out / "search.toml"
        made = subprocess.run([MASE, "init", "jsc-tiny", "jsc", "--search", "-o", config], cwd=SOURCE, check=False)
        self.assertEqual(made.returncode, 0)
        document = self.search(config, "p", "--n-trials", "3")
        self.assertGreaterEqual(len(document["best_folders"]), 1)
        for folder in document["best_folders"]:
            again = self.mase(
                "transform", "--config", f"{folder}/transform.toml", "--project", "again", "--json", "--overwrite"
            )
            self.mase("emit", json.loads(again.stdout)["checkpoint"], "--project", "again", "-q")

    def test_a_format_without_ports_is_for_all_of_them(self):
        space = self.with_seed("whole.toml", 'name = ["mxint8", "mxint4"]\n')
        self.assertEqual(self.search(space, "p", "--sampler", "bruteforce")["trials"], 2)
        bits = {float(row["average_bitwidth"]) for row in self.trials("p")}
        # jsc-tiny: 32 floats of the norm, and 85 numbers in blocks of at most 32 that share 8 bits: each of 5 rows of
        # 16 weights is a block, as are the 5 biases.
        self.assertEqual(bits, {(32 * 32 + 85 * width + 6 * 8) / 117 for width in (8, 4)})


class Channels(Search):
    def test_brute_force_goes_through_36_networks_and_tpe_finds_points_of_its_front(self):
        every = self.search(CHANNELS, "all", "--sampler", "bruteforce", "--n-jobs", "2")
        self.assertEqual(every["trials"], 36)
        guided = self.search(CHANNELS, "tpe")
        self.assertEqual(guided["trials"], 20)
        # Each network is trained from the same seed, so equal factors give equal values.
        known = {
            tuple(v for k, v in row.items() if k.startswith("params")): row["accuracy"] for row in self.trials("all")
        }
        for row in self.trials("tpe"):
            self.assertEqual(row["accuracy"], known[tuple(v for k, v in row.items() if k.startswith("params"))])

    def test_a_trained_point_is_loaded_from_its_checkpoint_with_the_reported_metrics(self):
        document = self.search(CHANNELS, "p", "--n-trials", "4")
        best, folder = next(iter(document["best"].values())), document["best_folders"][0]
        again = json.loads(
            self.mase("transform", "--config", f"{folder}/transform.toml", "--project", "again", "--json").stdout
        )
        self.assertEqual(again["scores"]["accuracy"], best["software_metrics"]["accuracy"])
        self.assertEqual(again["scores"]["loss"], best["software_metrics"]["loss"])


class Combined(Search):
    """Channels, precision and folding in one search."""

    def design(self, *arguments):
        """What add_hardware_metadata finds in a run of the arguments, with the scores of the run where it has any."""
        document = json.loads(self.mase(*arguments, "--json").stdout)
        found = next(p for p in document["passes"] if p["pass"] == "add_hardware_metadata")["info"]
        metrics = {metric: found[name] for metric, name in HARDWARE_METRICS.items()}
        for resource in ("lut", "ff", "dsp", "bram"):
            metrics[resource] = found["total"][resource]
        metrics["fmax"] = found["fmax"]
        metrics["throughput"] = found["throughput"]
        return metrics, {row["layer"]: row["fold"] for row in found["layers"]}, document.get("scores")

    def test_emit_and_transform_of_a_winner_give_the_very_design_that_was_measured(self):
        document = self.search(COMBINED, "p", "--n-trials", "12", "--sampler", "random")
        self.assertGreaterEqual(len(document["best"]), 1)
        for best, folder in zip(document["best"].values(), document["best_folders"]):
            chosen = best["sampled_config"]
            project = f"again{best['number']}"
            emitted, folds, _ = self.design("emit", f"{folder}/graph_module.pt", "--project", project)
            again, same_folds, scores = self.design(
                "transform", "--config", f"{folder}/transform.toml", "--project", project
            )
            self.assertEqual(emitted, best["hardware_metrics"])
            self.assertEqual(again, best["hardware_metrics"])
            self.assertEqual(scores["accuracy"], best["software_metrics"]["accuracy"])
            fold = chosen["hardware"]["layers"]["seq_blocks_4"]
            wanted = f"{fold['simd']} x {fold['pe']} {chosen['hardware']['multiplier']}"
            for found in (folds, same_folds):  # outputs may share multipliers besides
                self.assertEqual(found["seq_blocks_4"].partition(" packed")[0], wanted)
            width = int(16 * chosen["channels"]["layers"]["seq_blocks_4"])
            graph = self.mase("show", f"{folder}/graph_module.pt").stdout
            self.assertIn(f"tensor seq_blocks.4.weight : float32[{width}, 16]", graph)

    def test_a_file_that_says_only_clock_or_family_keeps_the_folds_of_a_winner(self):
        document = self.search(COMBINED, "p", "--n-trials", "4", "--sampler", "random")
        checkpoint = f"{document['best_folders'][0]}/graph_module.pt"

        def folds(name, line):
            config = self.out / f"{name}.toml"
            config.write_text(f"[passes.add_hardware_metadata]\n{line}\n", encoding="utf-8")
            return self.design("emit", checkpoint, "--config", config, "--project", name)[1]

        _, kept, _ = self.design("emit", checkpoint, "--project", "kept")
        self.assertEqual(folds("clock", "clock_mhz = 150"), kept)
        self.assertEqual(folds("family", 'family = "ecp5"'), kept)
        self.assertNotEqual(folds("anew", "keep = false"), kept)
        self.assertNotEqual(folds("target", "initiation_interval = 1"), kept)

    def test_new_weights_that_nothing_trains_are_warned_about(self):
        self.mase("train", "jsc-three-linear", "jsc", "--max-epochs", "1", "--project", "t")
        trained = ("--load", self.out / "t/software/training_ckpts/best.pt", "--dry-run", "--project", "p")
        for weights, warned in (("inherit", False), ("random", True)):
            config = self.edited(COMBINED, f"{weights}.toml", ('weights = "inherit"', f'weights = "{weights}"'))
            told = self.mase("search", "--config", config, *trained).stderr
            self.assertEqual("random weights that no trial trains" in told, warned, told)

    def test_allocate_refuses_it_before_anything_is_measured(self):
        result = self.mase("search", "--config", COMBINED, "--project", "p", "--sampler", "allocate", code=2)
        self.assertIn("folding does not change the loss", result.stderr)
        self.assertFalse((self.folder("p") / "study.db").exists())


class TrainedModels(Search):
    def test_the_precision_search_of_vit_tiny_counts_the_hardware_of_every_trial(self):
        config = self.edited(
            "configs/search/vit_tiny_mnist.toml",
            "vit.toml",
            ("num_samples = 1000", "num_samples = 16"),
            ("accuracy_drop <= 1.0", "accuracy >= 0.0"),
        )
        self.mase("search", "--config", config, "--project", "vit", "--n-trials", "2", "-q")
        luts = [row["lut"] for row in self.trials("vit")]
        self.assertEqual(len(luts), 2)
        self.assertNotEqual(luts[0], luts[1])

    def test_the_search_of_lenet_over_formats_counts_the_hardware_of_every_trial(self):
        config = self.edited(
            "configs/search/lenet_hardware_formats.toml",
            "lenet.toml",
            ("num_samples = 5000", "num_samples = 64"),
            ("accuracy_drop <= 0.5", "accuracy >= 0.0"),
        )
        self.mase("search", "--config", config, "--project", "formats", "--n-trials", "6", "-q")
        rows = self.trials("formats")
        self.assertEqual([row["state"] for row in rows], ["COMPLETE"] * 6)
        self.assertGreater(len({row["lut"] for row in rows}), 3)

    def test_the_mixed_precision_search_of_lenet_runs_and_says_what_is_missing_where_nothing_is_feasible(self):
        # Untrained: no accuracy to lose, so one that must be had makes every trial infeasible.
        config = self.edited(
            "configs/search/lenet_mnist_mixed.toml",
            "lenet.toml",
            ("num_samples = 2000", "num_samples = 64"),
            ("accuracy_drop <= 1.0", "accuracy >= 0.9"),
        )
        result = self.mase("search", "--config", config, "--project", "lenet", "--n-trials", "3", "-q", code=1)
        self.assertIn("no trial satisfies accuracy >= 0.9; nearest: trial", result.stderr)


class Determinism(Search):
    def test_one_seed_gives_the_same_trials_for_1_2_and_8_workers(self):
        expected = None
        for jobs in (1, 2, 8):
            self.search(CHANNELS, f"jobs{jobs}", "--deterministic", "--n-jobs", jobs, "--n-trials", "24", "--seed", "3")
            rows = self.trials(f"jobs{jobs}")
            self.assertEqual(len(rows), 24)
            expected = expected or rows
            self.assertEqual(rows, expected)

    def test_kill_9_at_random_moments_changes_nothing(self):
        config = self.edited(CHANNELS, "slow.toml", ("max_epochs = 5", "max_epochs = 20"))
        arguments = ("--deterministic", "--n-jobs", "2", "--n-trials", "24")
        self.search(config, "whole", *arguments)
        draw = random.Random(5)
        for _ in range(4):
            process = self.start(config, "killed", *arguments)
            time.sleep(0.4 + draw.random())
            process.kill()
            process.wait()
        self.search(config, "killed", *arguments)
        self.assertEqual(self.trials("killed"), self.trials("whole"))

    def test_ctrl_c_finishes_running_trials_and_the_same_command_goes_on(self):
        config = self.edited(CHANNELS, "slow.toml", ("max_epochs = 5", "max_epochs = 40"))
        process = self.start(config, "p", "--n-trials", "500")
        database = self.folder("p") / "study.db"
        while not database.exists() or database.stat().st_size == 0:
            time.sleep(0.05)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(60), 130)
        rows = self.trials("p")
        # The signal may come when a trial has been drawn and has not begun; the next run takes it.
        done = [row for row in rows if row["state"] != "WAITING"]
        self.assertLessEqual(len(rows) - len(done), 1)
        self.assertTrue(all(row["state"] == "COMPLETE" for row in done), rows)
        document = self.search(config, "p", "--n-trials", str(len(rows) + 2))
        self.assertEqual(document["trials"], len(rows) + 2)
        later = {row["number"]: row for row in self.trials("p")}
        self.assertEqual([later[row["number"]] for row in done], done)
        self.assertTrue(all(row["state"] == "COMPLETE" for row in later.values()), later)


OPTUNA = """
import optuna, sys
optuna.logging.set_verbosity(optuna.logging.ERROR)
study = optuna.create_study(study_name="joint", storage=sys.argv[1], directions=["maximize", "minimize"],
                            load_if_exists=True, sampler=optuna.samplers.TPESampler(seed=1))
node = "seq_blocks_2/config/"
def evaluate(trial):
    widths = [trial.suggest_int(node + "data_in_width", 4, 8, step=4)]
    widths += [trial.suggest_categorical(node + key, [2, 4, 8]) for key in ("weight_width", "bias_width")]
    return 0.01 * sum(widths), 0.1 * widths[1]
study.optimize(evaluate, n_trials=int(sys.argv[2]))
print(len(study.trials), all(trial.state.name == "COMPLETE" for trial in study.trials))
"""


class BesideOptuna(Search):
    def test_a_study_begun_in_python_goes_on_here_then_there_then_here(self):
        python = os.environ.get("MASE_OPTUNA_PYTHON")
        if not python:
            self.skipTest("no Python with optuna; name one in MASE_OPTUNA_PYTHON")
        url = f"sqlite:///{self.out}/joint.db"

        def in_python(trials):
            return subprocess.run(
                [python, "-c", OPTUNA, url, str(trials)], capture_output=True, text=True, check=True
            ).stdout

        where = ("--storage", url, "--study", "joint")
        self.assertEqual(in_python(4), "4 True\n")
        self.assertEqual(self.search(EXAMPLE, "p", *where, "--n-trials", "9")["trials"], 9)
        self.assertEqual(in_python(3), "12 True\n")
        # Trials of the other program may be among the best: they get their folder too.
        document = self.search(EXAMPLE, "p", *where, "--n-trials", "15", "--n-jobs", "2")
        self.assertEqual(document["trials"], 15)
        self.assertEqual(len(document["best_folders"]), len(document["best"]))
        self.assertTrue(any(int(best["number"]) in (*range(4), 9, 10, 11) for best in document["best"].values()))


class Refusals(Search):
    def test_a_changed_configuration_is_refused_with_the_difference(self):
        self.search(EXAMPLE, "p")
        result = self.mase("search", "--config", EXAMPLE, "--project", "p", "--seed", "43", "-q", code=2)
        self.assertIn("seed: 42 in the study, 43 now", result.stderr)

    def test_wrong_spaces_and_metrics_are_named_before_the_first_trial(self):
        config = self.edited(EXAMPLE, "wrong.toml", ("weight_width = [2, 4, 8]", "weight_width = []"))
        result = self.mase("search", "--config", config, "--project", "p", "-q", code=2)
        self.assertIn("must be a list with at least one choice", result.stderr)
        config = self.edited(
            EXAMPLE, "wrong.toml", ("[search.strategy.hw_runner.average_bitwidth]\ncompare_to = 32\n", "")
        )
        result = self.mase("search", "--config", config, "--project", "p", "-q", code=2)
        self.assertIn("no runner delivers the metric 'average_bitwidth'", result.stderr)
        self.assertFalse((self.folder("p") / "study.db").exists())

    def test_a_space_in_which_nothing_can_be_built_is_refused_before_the_first_trial(self):
        # Data has no channels of its own.
        space = self.with_seed(
            "unbuildable.toml", 'name = ["integer"]\ndata_in_width = [4, 8]\ndata_in_granularity = ["channel"]\n'
        )
        for words in ((), ("--dry-run",)):
            said = self.mase("search", "--config", space, "--project", "p", "-q", *words, code=2).stderr
            self.assertIn("no trial of this space can be built", said)
        self.assertFalse((self.folder("p") / "study.db").exists())

    def test_formats_without_hardware_are_refused_before_the_first_trial_of_a_search_that_measures_it(self):
        config = self.edited(
            COMBINED,
            "blocks.toml",
            ('name = ["integer"]\ndata_in_width = [6, 8]', 'name = ["integer", "nvfp4"]\ndata_in_width = [6, 8]'),
        )
        for words in ((), ("--dry-run",)):
            said = self.mase("search", "--config", config, "--project", "p", "-q", *words, code=2).stderr
            self.assertRegex(said, "error: seed of 'linear': name = .nvfp4. has no hardware")
            self.assertIn(
                "format of data_in of 'seq_blocks_2': format 'nvfp4()' has a scale that follows from all", said
            )
        self.assertFalse((self.folder("p") / "study.db").exists())

    def test_a_file_that_is_no_database_is_left_alone(self):
        path = self.out / "notes.txt"
        path.write_text("not a database, and longer than its header would be\n" * 30)
        result = self.mase(
            "search", "--config", EXAMPLE, "--project", "p", "--storage", f"sqlite:///{path}", "-q", code=3
        )
        self.assertIn(str(path), result.stderr)
        self.assertTrue(path.read_text().startswith("not a database"))

    def test_brute_force_refuses_a_space_above_its_limit(self):
        result = self.mase(
            "search",
            "--config",
            EXAMPLE,
            "--project",
            "p",
            "--sampler",
            "grid",
            "--max-configurations",
            "17",
            "-q",
            code=2,
        )
        self.assertIn("18 configurations, but grid tries at most 17", result.stderr)


class Refuser:
    """A server that answers each connection with the next of these error codes, the last one for ever."""

    def __init__(self, *codes):
        self.codes, self.connections = list(codes), 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"postgresql://me:s3cret@127.0.0.1:{self.listener.getsockname()[1]}/none"
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            with self.listener.accept()[0] as client, contextlib.suppress(OSError):
                self.answer(client)

    def answer(self, client):
        encryption = (80877103, 80877104)  # codes that ask for SSL and GSSAPI: answered no
        while int.from_bytes((request := client.recv(4096))[4:8], "big") in encryption:
            client.sendall(b"N")
        if not request:
            return
        code = self.codes[min(self.connections, len(self.codes) - 1)]
        self.connections += 1
        fields = f"SFATAL\0C{code}\0Mnein\0\0".encode()
        client.sendall(b"E" + (4 + len(fields)).to_bytes(4, "big") + fields)


class FirstConnection(Search):
    """What a server answers to the first connection decides whether it is waited for."""

    def test_a_wrong_password_name_or_right_is_an_error_at_once(self):
        for code in ("28P01", "28000", "3D000", "42501"):
            server = Refuser(code)
            told = self.mase("study", "list", "--storage", server.url, code=3).stderr
            self.assertIn("nein", told)
            self.assertIn("are user, password and name right?", told)
            self.assertNotIn("s3cret", told)
            self.assertLessEqual(server.connections, 2)

    def test_a_server_that_starts_ends_or_is_full_is_waited_for(self):
        server = Refuser(*["57P03"] * 3, *["57P01"] * 2, *["53300"] * 2, "28P01")
        told = self.mase("study", "list", "--storage", server.url, code=3).stderr
        self.assertGreaterEqual(server.connections, 8)
        self.assertEqual(told.count("waiting for it"), 1, told)


class Proxy:
    """Between workers and a server: loses the answer to every `lost`-th COMMIT, and can be away."""

    def __init__(self, url, lost):
        self.server = urllib.parse.urlsplit(url)
        self.lost, self.commits, self.answers_lost, self.refused = lost, 0, 0, 0
        self.turns = 0  # how often a client spoke after the server had
        self.is_away = False
        self.pairs = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        user = self.server.netloc.rpartition("@")[0]
        self.url = f"postgresql://{user}@127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client = self.listener.accept()[0]
            if self.is_away:
                self.refused += 1
                client.close()
                continue
            pair = (client, socket.create_connection((self.server.hostname, self.server.port)))
            self.pairs.append(pair)
            answer_lost, answered = threading.Event(), threading.Event()
            for arguments in ((*pair, answer_lost), (*reversed(pair), answer_lost)):
                threading.Thread(target=self.pump, args=(*arguments, answered, pair[0]), daemon=True).start()

    def pump(self, source, target, answer_lost, answered, client):
        try:
            while data := source.recv(65536):
                self.turns += source is client and answered.is_set()
                (answered.clear if source is client else answered.set)()
                if source is client and b"COMMIT" in data:
                    self.commits += 1
                    if self.commits % self.lost == 0:
                        answer_lost.set()
                elif source is not client and answer_lost.is_set():
                    self.answers_lost += 1
                    break
                target.sendall(data)
        except OSError:
            pass
        self.cut(source, target)

    @staticmethod
    def cut(*ends):
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def leave(self):
        self.is_away = True
        for pair in self.pairs:
            self.cut(*pair)

    def come_back(self):
        self.is_away = False


@unittest.skipUnless("MASE_TEST_POSTGRESQL" in os.environ, "no PostgreSQL server")
class Hosts(Search):
    @staticmethod
    def place(server, study, trials):
        """The options of a study on a server."""
        url = server.rstrip("/") + "/postgres"
        return ("--storage", url, "--study", f"{study}{os.getpid()}", "--n-trials", str(trials))

    def wait_for(self, worker, event):
        while not event():
            self.assertIsNone(worker.poll(), "the worker has ended")
            time.sleep(0.02)

    def test_a_server_that_is_away_and_lost_answers_to_commits_cost_no_trial(self):
        proxy = Proxy(os.environ["MASE_TEST_POSTGRESQL"], lost=11)
        patient = ("--storage-timeout", "600")
        worker = self.start(CHANNELS, "p", *self.place(proxy.url, "away", 40), "--n-jobs", "2", *patient)
        self.wait_for(worker, lambda: proxy.answers_lost >= 2)
        proxy.leave()
        self.wait_for(worker, lambda: proxy.refused >= 3)
        proxy.come_back()
        self.assertEqual(worker.wait(600), 0)
        rows = self.trials("p")
        self.assertEqual([int(row["number"]) for row in rows], list(range(40)))
        self.assertEqual({row["state"] for row in rows}, {"COMPLETE"})

    def test_a_server_that_stays_away_ends_the_search_when_its_patience_is_over(self):
        proxy = Proxy(os.environ["MASE_TEST_POSTGRESQL"], lost=10**9)
        worker = self.start(CHANNELS, "p", *self.place(proxy.url, "gone", 4000), "--storage-timeout", "1")
        self.wait_for(worker, lambda: proxy.commits >= 20)
        proxy.leave()
        self.assertEqual(worker.wait(600), 3)

    def test_a_trial_costs_few_round_trips(self):
        turns = []
        for trials in (10, 40):
            proxy = Proxy(os.environ["MASE_TEST_POSTGRESQL"], lost=10**9)
            self.search(CHANNELS, "p", *self.place(proxy.url, f"trips{trials}", trials), "--heartbeat", "1000")
            turns.append(proxy.turns)
        # Two to begin, and one each for a look, the parameters and the end; nobody waits for the end of the look.
        self.assertLess((turns[1] - turns[0]) / 30, 8, turns)

    def test_a_search_begins_when_the_server_comes(self):
        proxy = Proxy(os.environ["MASE_TEST_POSTGRESQL"], lost=10**9)
        proxy.leave()
        place = self.place(proxy.url, "late", 4)
        worker = self.start(CHANNELS, "p", *place, "--storage-timeout", "600")
        self.wait_for(worker, lambda: proxy.refused >= 5)
        proxy.come_back()
        self.assertEqual(worker.wait(600), 0)
        self.assertEqual(len(self.trials("p")), 4)

    def test_workers_that_are_killed_lose_no_trial_and_count_none_twice(self):
        config = self.edited(CHANNELS, "slow.toml", ("max_epochs = 5", "max_epochs = 20"))
        arguments = (*self.place(os.environ["MASE_TEST_POSTGRESQL"], "hosts", 40), "--heartbeat", "0.2")
        draw = random.Random(7)
        for round_ in range(3):
            victims = [self.start(config, f"victim{i}", *arguments) for i in range(2)]
            time.sleep(0.6 + draw.random())
            for victim in victims[: 1 + round_ % 2]:
                victim.kill()
                victim.wait()
        document = self.search(config, "last", *arguments)
        rows = self.trials("last")
        self.assertEqual([int(row["number"]) for row in rows], list(range(document["trials"])))
        complete = [row for row in rows if row["state"] == "COMPLETE"]
        failed = [row for row in rows if row["state"] == "FAIL"]
        # Each trial of a dead worker has failed and stands once more as its retry.
        self.assertEqual(len(complete), 40)
        self.assertEqual(len(complete) + len(failed), len(rows))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mase", type=Path, required=True)
    parser.add_argument("--source", type=Path, required=True)
    options, rest = parser.parse_known_args()
    MASE, SOURCE = options.mase.resolve(), options.source.resolve()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
