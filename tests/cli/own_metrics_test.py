#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Metrics of the user's own, by programs: in `mase test`, in searches, what is told of those that fail, and Ctrl-C.

usage: own_metrics_test.py --mase BINARY --source ROOT [unittest arguments]
"""

import argparse
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

MASE = SOURCE = None

ACCURACY = """
import array, sys
def numbers(path, kind):
    data = open(path, "rb").read()
    return array.array(kind, data[data.index(b"\\n") + 1:])
logits, labels = numbers(sys.argv[1], "f"), numbers(sys.argv[2], "q")
wide = len(logits) // len(labels)
rows = [logits[i * wide:(i + 1) * wide] for i in range(len(labels))]
print("rows", len(rows), file=sys.stderr)
print(sum(row.index(max(row)) == label for row, label in zip(rows, labels)) / len(rows))
"""
SEARCH = """
[metrics.cost]
sum = { average_bitwidth = 0.5, mine = -4 }
direction = "minimize"
[search.search_space]
name = "graph/quantize/mixed_precision_ptq"
[search.search_space.setup]
by = "type"
[search.search_space.seed.linear.config]
name = ["integer"]
data_in_width = [3, 8]
weight_width = [2, 8]
[search.strategy]
constraints = ["mine >= 0.15"]
[search.strategy.sw_runner.basic_evaluation]
num_samples = 100
[search.strategy.hw_runner.average_bitwidth]
[search.strategy.setup]
sampler = "grid"
n_jobs = 2
[search.strategy.metrics]
cost = {}
mine = {}
"""


class OwnMetrics(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.cwd = Path(folder.name)
        self.temporary = self.cwd / "temporary"
        self.temporary.mkdir()
        (self.cwd / "score.py").write_text(ACCURACY, encoding="utf-8")
        self.environment = {**os.environ, "OMP_NUM_THREADS": "1", "TMPDIR": str(self.temporary)}

    def config(self, command, more="", name="own.toml"):
        """A configuration with the metric `mine`."""
        text = f'model = "jsc-tiny"\ndataset = "jsc"\n[metrics.mine]\ncommand = {json.dumps(command)}\n{more}'
        (self.cwd / name).write_text(text, encoding="utf-8")
        return name

    def mase(self, *arguments, code=0):
        result = subprocess.run(
            [str(MASE), *map(str, arguments)],
            cwd=self.cwd,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(result.returncode, code, f"{arguments}\n{result.stdout}\n{result.stderr}")
        self.assertEqual(list(self.temporary.glob("mase-run*")), [])
        return result

    def test_every_level_has_the_metric_that_the_program_measures(self):
        config = self.config("python3 score.py {outputs} {targets}", "[passes.quantize.default.config]\nwidth = 6\n")
        text = (self.cwd / config).read_text(encoding="utf-8").replace("width = 6", 'name = "integer"\nwidth = 6')
        (self.cwd / config).write_text("project = 'own'\n" + text, encoding="utf-8")
        self.mase("transform", "--config", config)
        levels = ["float", "quantized"]
        arguments = ("test", "--config", config, "--load", "mase_output/own", "--level", ",".join(levels), "--rows", 90)
        found = json.loads(self.mase(*arguments, "--json").stdout)
        self.assertEqual(list(found["metrics"]), levels)
        for level in levels:
            self.assertEqual(found["metrics"][level], {"mine": found["levels"][level]["accuracy"]})
        self.mase(*arguments, "--require", "mine >= 0", "--require", "mine <= 1")
        said = self.mase(*arguments, "--require", "mine >= 1.5", code=1).stderr
        self.assertEqual(said.count("but the bound is mine >= 1.5"), 2)
        self.assertIn("did you mean 'mine'?", self.mase(*arguments, "--require", "mien >= 1", code=2).stderr)
        self.assertIn("--config", self.mase("test", "jsc-tiny", "jsc", "--require", "mine >= 1", code=2).stderr)
        found = found["levels"]["quantized"]
        recall = found["classes"]["g"]["correct"] / found["classes"]["g"]["rows"]
        self.mase(*arguments, "--require", f"quantized.g.recall >= {recall - 1e-6}")
        said = self.mase(*arguments, "--require", f"quantized.g.recall >= {recall + 1e-6}", code=1).stderr
        self.assertEqual(said.count("but the bound is quantized.g.recall"), 1)
        shown = self.mase(*arguments, "-q").stdout
        self.assertIn("Metrics of your own", shown)
        self.mase("report", "mase_output/own")
        self.assertIn("Metrics of your own", (self.cwd / "mase_output/own/report.html").read_text(encoding="utf-8"))

    def test_a_test_shows_the_sums_whose_parts_it_measures(self):
        sums = "[metrics.both]\nsum = { mine = 2, accuracy = -1 }\n[metrics.cost]\nsum = { both = 1, lut = 1 }\n"
        arguments = ("test", "--config", self.config("python3 score.py {outputs} {targets}", sums))
        result = self.mase(*arguments, "--json")
        found = json.loads(result.stdout)
        self.assertAlmostEqual(found["metrics"]["float"]["both"], found["scores"]["accuracy"])
        self.assertNotIn("cost", found["metrics"]["float"])
        self.assertIn("metric cost is left out: mase test does not measure lut", result.stderr)
        said = self.mase(*arguments, "--require", "cost <= 1", code=2).stderr
        self.assertIn("mase test does not measure lut, a part of 'cost'", said)

    def test_rows_without_labels_have_inputs_and_outputs_but_no_targets(self):
        (self.cwd / "rows").mkdir()
        header = "{'descr': '<f4', 'fortran_order': False, 'shape': (40, 16), }"
        header += " " * (117 - len(header)) + "\n"
        values = struct.pack("<640f", *(i * 7 % 11 / 11 - 0.5 for i in range(640)))
        (self.cwd / "rows/x.npy").write_bytes(b"\x93NUMPY\1\0" + struct.pack("<H", 118) + header.encode() + values)
        first = "import sys; print(len(open(sys.argv[1], 'rb').read()) - len(open(sys.argv[2], 'rb').read()))"
        config = self.config(f'python3 -c "{first}" {{inputs}} {{outputs}}')
        rows = ("--dataset", "npy", "--data-dir", "rows", "--split", "train")
        found = json.loads(self.mase("test", "--config", config, *rows, "--json").stdout)
        # 16 numbers in and 5 out, of four bytes each, for every row; headers have one size.
        count = found["levels"]["float"]["rows"]
        self.assertEqual(found["metrics"]["float"]["mine"], count * 11 * 4)
        config = self.config("python3 score.py {outputs} {targets}")
        said = self.mase("test", "--config", config, *rows, code=2).stderr
        self.assertIn("needs targets, and there are none in data set npy; add y.npy", said)

    def test_a_search_has_it_as_an_objective_in_a_sum_and_as_a_constraint(self):
        config = self.config("python3 score.py {outputs} {targets}", SEARCH)
        arguments = ("search", "--config", config, "--project", "own")
        found = json.loads(self.mase(*arguments, "--json").stdout)
        self.assertEqual(found["baseline"]["mine"], found["baseline"]["accuracy"])
        folder = self.cwd / "mase_output/own/software/search"
        header, *rows = [line.split(",") for line in (folder / "trials.csv").read_text().splitlines()]
        self.assertEqual(len(rows), 4)
        for row in rows:
            trial = dict(zip(header, row, strict=True))
            mine, accuracy, bits = (float(trial[name]) for name in ("mine", "accuracy", "average_bitwidth"))
            self.assertEqual(mine, accuracy)
            self.assertAlmostEqual(float(trial["cost"]), 0.5 * bits - 4 * mine)
            self.assertEqual(float(trial["violation"]) <= 0, mine >= 0.15)
        again = self.mase(*arguments, "-q")  # nothing is left to run
        self.assertIn("4 trials", again.stdout)
        changed = self.config("python3 -s score.py {outputs} {targets}", SEARCH)
        said = self.mase("search", "--config", changed, "--project", "own", code=2).stderr
        self.assertIn("own_metrics.mine.command", said)
        self.assertTrue(found["best_folders"])
        for place in found["best_folders"]:
            self.assertIn("[metrics.mine]", (self.cwd / place / "transform.toml").read_text(encoding="utf-8"))

    def test_a_program_prints_several_numbers_that_tests_and_searches_use(self):
        script = "import json, sys; print(json.dumps({'size': len(open(sys.argv[1], 'rb').read()), 'half': 0.5}))"
        search = SEARCH.replace("mine = -4", "mine.half = -4").replace("mine >= 0.15", "mine.half >= 0.75")
        config = self.config(f'python3 -c "{script}" {{outputs}}', search.replace("mine = {}", "mine.size = {}"))
        found = json.loads(self.mase("test", "--config", config, "--json").stdout)
        # Five float32 for each of the 150 test rows, behind a header of 128 bytes.
        self.assertEqual(found["metrics"]["float"], {"mine.size": 128 + 150 * 20, "mine.half": 0.5})
        self.mase("test", "--config", config, "--require", "mine.half >= 0.6", code=1)
        said = self.mase("test", "--config", config, "--require", "mine.haf >= 0.6", code=2).stderr
        self.assertIn("'mine.haf' was not measured; measured are", said)
        found = json.loads(self.mase("search", "--config", config, "--project", "own", "--json", code=1).stdout)
        self.assertEqual(found["trials"], 4)  # all of which miss the bound
        self.assertEqual(found["baseline"]["mine.half"], 0.5)
        (self.cwd / config).write_text((self.cwd / config).read_text().replace("mine.half >=", "mine.haf >="))
        said = self.mase("search", "--config", config, "--project", "other", code=3).stderr
        self.assertIn("did not print 'mine.haf', which the search needs; did you mean 'mine.half'?", said)

    def test_names_are_checked_before_the_search_begins(self):
        mistyped = SEARCH.replace("mine >= 0.15", "mien >= 0.15")
        config = self.config("python3 score.py {outputs} {targets}", mistyped)
        self.assertIn("did you mean 'mine'?", self.mase("search", "--config", config, code=2).stderr)
        mistyped = SEARCH.replace("average_bitwidth = 0.5", "average_bitwith = 0.5")
        config = self.config("python3 score.py {outputs} {targets}", mistyped)
        self.assertIn("did you mean 'average_bitwidth'?", self.mase("search", "--config", config, code=2).stderr)

    def test_a_program_that_fails_is_shown_with_what_it_said(self):
        said = self.mase("test", "--config", self.config("python3 scor.py {outputs}"), code=3).stderr
        self.assertRegex(said, r"metric mine \(own\.toml:4:11\), `python3 scor\.py \{outputs\}` ended with status 2:\n")
        self.assertIn("scor.py", said.split("ended with")[1])
        said = self.mase("test", "--config", self.config("no-such-program {outputs}"), code=2).stderr
        self.assertIn("there is no program 'no-such-program' in PATH", said)
        config = self.config("python3 -c 'print(None)' {outputs}", SEARCH)
        self.assertIn(
            'printed "None"; it must print one finite number', self.mase("test", "--config", config, code=3).stderr
        )
        said = self.mase("search", "--config", config, "--project", "none", code=3).stderr
        self.assertIn('printed "None"', said)  # when the float model is measured, before any trial

    def test_an_interrupt_ends_the_program_and_removes_its_files(self):
        script = "import pathlib, sys, time; pathlib.Path(sys.argv[1]).with_name('begun').touch(); time.sleep(600)"
        process = subprocess.Popen(
            [str(MASE), "test", "--config", self.config(f'python3 -c "{script}" {{outputs}}')],
            cwd=self.cwd,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.addCleanup(process.kill)
        while not list(self.temporary.glob("mase-run*/begun")) and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(), 130)
        self.assertEqual(list(self.temporary.iterdir()), [])


def main():
    global MASE, SOURCE
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mase", type=Path, required=True)
    parser.add_argument("--source", type=Path, required=True)
    arguments, rest = parser.parse_known_args()
    MASE, SOURCE = arguments.mase.resolve(), arguments.source.resolve()
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
