#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tasks other than one class per row: each is trained, transformed, tested at several levels and searched.

usage: tasks_test.py --mase BINARY --source ROOT [unittest arguments]

The models are those of tests/fixtures, whose outputs are asked for something that their inputs determine.
"""

import argparse
import json
import random
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

MASE = SOURCE = None
ROWS = 200


def write_array(path, code, values, shape):
    """An .npy file of little-endian values; `code` is that of struct for one element."""
    kind = {"f": "<f4", "q": "<i8", "B": "|u1"}[code]
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    data = struct.pack(f"<{len(values)}{code}", *values)
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


class Tasks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.cwd = Path(folder.name)
        (self.cwd / "rows").mkdir()
        self.draw = random.Random(1)

    def mase(self, *arguments, code=0):
        command = [str(MASE), *map(str, arguments)]
        result = subprocess.run(command, cwd=self.cwd, capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, code, f"{command}\n{result.stdout}\n{result.stderr}")
        return result

    def rows(self, name, code, values, shape):
        write_array(self.cwd / "rows" / f"{name}.npy", code, values, shape)

    def inputs(self, *shape):
        """Writes x.npy of random rows and returns them, each as a flat list."""
        size = 1
        for side in shape:
            size *= side
        rows = [[self.draw.uniform(-1, 1) for _ in range(size)] for _ in range(ROWS)]
        self.rows("x", "f", [value for row in rows for value in row], (ROWS, *shape))
        return rows

    def trained(self, model, *options, epochs=8):
        """Trains, checks that the validation loss falls, and returns the last epoch."""
        arguments = (model, "npy", "--data-dir", "rows", "--project", "p", "--batch-size", "20", *options)
        arguments = ("train", *arguments, "--max-epochs", epochs, "--learning-rate", "0.01", "--json")
        epochs = json.loads(self.mase(*arguments).stdout)["epochs"]
        self.assertLess(epochs[-1]["validation_loss"], epochs[0]["validation_loss"])
        return epochs[-1]

    def levels(self, *options):
        """Transforms the trained model and returns its figures by level."""
        self.mase("init", "mase_output/p", "npy", "--data-dir", "rows", *options, "-o", "t.toml")
        self.mase("transform", "--config", "t.toml", "--project", "q")
        arguments = ("mase_output/q", "npy", "--data-dir", "rows", *options, "--level", "float,quantized,integer")
        return json.loads(self.mase("test", *arguments, "--json").stdout)["levels"]

    def test_regression(self):
        x = self.inputs(16)
        self.rows("y", "f", [max(0, row[c]) for row in x for c in range(5)], (ROWS, 5))
        last = self.trained("jsc-tiny", "--task", "regression", "--loss", "huber", "--gradient-clip", "1")
        self.assertEqual(
            set(last),
            {"epoch", "step", "train_loss"}
            | {f"validation_{n}" for n in ("loss", "mse", "rmse", "mae", "r2", "worst")},
        )
        self.mase("report", "mase_output/p")
        page = (self.cwd / "mase_output/p/report.html").read_text(encoding="utf-8")
        for name in ("loss", "mse", "rmse", "mae", "r2", "worst"):
            self.assertIn(f"{name} by epoch", page)
        found = self.levels("--task", "regression")
        for level in ("quantized", "integer"):
            self.assertAlmostEqual(found[level]["figures"]["mae"], found["float"]["figures"]["mae"], delta=0.05)
        self.assertIn("--task regression", self.mase("test", "jsc-tiny", "npy", "--data-dir", "rows", code=3).stderr)
        said = self.mase(
            "train", "jsc-tiny", "npy", "--data-dir", "rows", "--task", "regression", "--loss", "kl", code=2
        )
        self.assertIn("has mse, l1, huber", said.stderr)

    def test_bounds_on_figures(self):
        x = self.inputs(16)
        self.rows("y", "f", [max(0, row[c]) for row in x for c in range(5)], (ROWS, 5))
        self.trained("jsc-tiny", "--task", "regression", epochs=2)
        measured = json.loads(self.mase("test", "mase_output/p", "--json").stdout)["levels"]["float"]["figures"]
        above, below = measured["mae"] * 1.01, measured["mae"] * 0.99
        self.mase("test", "mase_output/p", "--require", f"mae <= {above}", "--require", f"float.mae >= {below}")
        said = self.mase("test", "mase_output/p", "--level", "float", "--require", f"mae <= {below}", code=1).stderr
        self.assertRegex(said, r"mae is 0\.\d{6} \(float\), but the bound is mae <= 0\.")
        said = self.mase("test", "mase_output/p", "--require", "maee <= 1", code=2).stderr
        self.assertIn("did you mean 'mae'? Figures: loss, mse, rmse, mae, r2, worst;", said)
        said = self.mase("test", "mase_output/p", "--min-accuracy", "50", code=2).stderr
        self.assertIn("there is no figure 'accuracy'; the figures are loss, mse, rmse, mae, r2, worst", said)
        unlabelled = ("test", "mase_output/p", "--task", "none", "--level", "float")
        self.mase(*unlabelled, "--require", "sqnr_db >= 100", "--require", "worst <= 0")
        said = self.mase(*unlabelled, "--require", "boxes.worst <= 0", code=2).stderr
        self.assertIn("'boxes.worst' was not measured; measured are sqnr_db, cosine, rms, worst", said)

    def test_multi_label(self):
        x = self.inputs(16)
        self.rows("y", "B", [row[c] + row[c + 5] > 0 for row in x for c in range(5)], (ROWS, 5))
        self.trained("jsc-tiny", "--task", "multi_label")
        found = self.levels("--task", "multi_label")
        self.assertEqual(found["integer"]["rows"], ROWS // 5)
        self.assertIn("f1", found["integer"]["figures"])
        worse = ("mase_output/q", "npy", "--data-dir", "rows", "--task", "multi_label", "--min-accuracy", "101")
        self.assertIn("is below the required 101", self.mase("test", *worse, code=1).stderr)

    def test_segmentation(self):
        x = self.inputs(3, 8, 8)
        self.rows("y", "q", [int(value > 0) for row in x for value in row[:64]], (ROWS, 8, 8))
        model = SOURCE / "tests/fixtures/models/unet_tiny/unet_tiny.script.pt"
        shape = ("--input-shape", "2,3,8,8")
        last = self.trained(model, "--task", "segmentation", *shape, epochs=3)
        self.assertGreater(last["validation_miou"], 0)
        self.assertIn("miou", self.levels("--task", "segmentation")["quantized"]["figures"])

    def test_labels_for_one_of_several_outputs(self):
        x = self.inputs(10)
        self.rows("y", "q", [int(row[0] > 0) for row in x], (ROWS,))
        model = SOURCE / "tests/fixtures/models/dict_output/dict_output.script.pt"
        said = self.mase("test", model, "npy", "--data-dir", "rows", code=2).stderr
        self.assertIn("returns 3 results (logits, boxes, features)", said)
        table = self.cwd / "o.toml"
        table.write_text("[outputs.logits]\n")
        last = self.trained(model, "--config", table)
        self.assertGreater(last["validation_accuracy"], 0.7)
        self.mase("test", "mase_output/p", "npy", "--data-dir", "rows")  # it remembers
        table.write_text('[outputs.logits]\ntask = "regression"\n')
        said = self.mase("test", model, "npy", "--data-dir", "rows", "--config", table, code=2).stderr
        self.assertIn('task = "regression"', said)

    def test_several_outputs(self):
        x = self.inputs(10)
        self.rows("y_boxes", "f", [row[c] / 2 for row in x for c in range(4)], (ROWS, 4))
        self.rows("y_logits", "q", [int(row[0] > 0) for row in x], (ROWS,))
        model = SOURCE / "tests/fixtures/models/dict_output/dict_output.script.pt"
        table = '[outputs.boxes]\nloss = "l1"\nweight = 0.5\n'
        (self.cwd / "o.toml").write_text(table)
        last = self.trained(model, "--config", "o.toml")
        self.assertAlmostEqual(last["validation_boxes.loss"], last["validation_boxes.mae"])
        total = 0.5 * last["validation_boxes.loss"] + last["validation_logits.loss"]
        self.assertAlmostEqual(last["validation_loss"], total)
        self.assertGreater(last["validation_logits.accuracy"], 0.7)
        figures = self.levels()["integer"]["figures"]
        self.assertIn("boxes.r2", figures)
        (self.cwd / "o.toml").write_text(table.replace("boxes", "bokses"))
        said = self.mase("train", model, "npy", "--data-dir", "rows", "--config", "o.toml", code=2).stderr
        self.assertIn("no target y_bokses", said)
        # A figure of one output is a metric by itself, and a bound for trials.
        self.mase("init", "mase_output/p", "npy", "--data-dir", "rows", "--search", "-o", "s.toml")
        search = (self.cwd / "s.toml").read_text()
        bounds = 'name = "optuna"\nconstraints = ["boxes.mae <= 0.5", "accuracy >= 0.1"]\n'
        (self.cwd / "s.toml").write_text(search.replace('name = "optuna"\n', bounds))
        found = self.mase("search", "--config", "s.toml", "--project", "s", "--n-trials", "3").stdout
        self.assertIn("boxes.mae", found)
        (self.cwd / "s.toml").write_text(search.replace("loss.direction", "miou.direction"))
        self.assertIn("miou", self.mase("search", "--config", "s.toml", "--project", "s", code=2).stderr)

    def test_distillation_needs_no_labels(self):
        self.inputs(16)
        self.mase("init", "jsc-tiny", "npy", "--data-dir", "rows", "-o", "t.toml")
        self.mase("transform", "--config", "t.toml", "--project", "q")
        last = self.trained("mase_output/q", "--teacher", "jsc-tiny", "--loss", "mse", "--overwrite", epochs=4)
        self.assertIn("validation_agreement", last)
        said = self.mase("train", "mase_output/q", "npy", "--data-dir", "rows", code=2).stderr
        self.assertIn("--teacher", said)

    def test_the_loss_of_a_teacher_leaves_the_labels_theirs(self):
        x = self.inputs(16)
        self.rows("y", "q", [int(row[0] > 0) for row in x], (ROWS,))
        self.mase("init", "jsc-tiny", "npy", "--data-dir", "rows", "-o", "t.toml")
        self.mase("transform", "--config", "t.toml", "--project", "q")
        last = self.trained("mase_output/q", "--teacher", "jsc-tiny", "--loss", "mse", epochs=4)
        self.assertIn("validation_accuracy", last)

    def trained_in_a_search(self, settings, table, *measured):
        """The metrics of one trial, which trains with settings of the file and of the table of basic_train."""
        (self.cwd / "s.toml").write_text(
            f'model = "jsc-tiny"\ndataset = "npy"\ndata_dir = "rows"\nbatch_size = 20\nlearning_rate = 0.01\n{settings}\n'
            '[search.search_space]\nname = "graph/quantize/mixed_precision_ptq"\n[search.search_space.setup]\n'
            'by = "type"\n[search.search_space.seed.linear.config]\nname = ["integer"]\nweight_width = [14, 16]\n[search.strategy]\n'
            f"[search.strategy.sw_runner.basic_train]\nmax_epochs = 3\n{table}\n"
            '[search.strategy.setup]\nn_trials = 1\nsampler = "random"\n[search.strategy.metrics]\nloss.direction = "minimize"\n'
        )
        self.runs = getattr(self, "runs", 0) + 1
        found = self.mase("search", "--config", "s.toml", "--project", f"s{self.runs}", "--json")
        metrics = json.loads(found.stdout)["best"]["0"]["software_metrics"]
        return [metrics[name] for name in measured]

    def test_the_loss_of_a_trial_is_that_of_its_table(self):
        x = self.inputs(16)
        self.rows("y", "f", [abs(row[c]) ** 3 for row in x for c in range(5)], (ROWS, 5))
        task = 'task = "regression"'
        by_default = self.trained_in_a_search(task, "", "mse", "mae")
        by_table = self.trained_in_a_search(task, 'loss = "l1"', "mse", "mae")
        self.assertNotEqual(by_table, by_default)
        self.assertEqual(by_table, self.trained_in_a_search(task + '\nloss = "l1"', "", "mse", "mae"))
        self.assertEqual(by_default, self.trained_in_a_search(task + '\nloss = "l1"', 'loss = "mse"', "mse", "mae"))

    def test_the_class_weights_of_a_trial_are_those_of_its_table(self):
        x = self.inputs(16)
        self.rows("y", "q", [min(4, int(abs(row[0]) * 9)) for row in x], (ROWS,))
        weights = "class_weights = [9, 1, 1, 1, 1]"  # the figure loss is without them
        by_default = self.trained_in_a_search("", "", "loss")
        by_table = self.trained_in_a_search("", weights, "loss")
        self.assertNotEqual(by_table, by_default)
        self.assertEqual(by_table, self.trained_in_a_search(weights, "", "loss"))

    def test_a_bound_on_a_metric_of_the_user_is_kept_for_every_task(self):
        x = self.inputs(16)
        self.rows("y", "f", [row[c] for row in x for c in range(5)], (ROWS, 5))
        (self.cwd / "m.toml").write_text("[metrics.half]\ncommand = \"sh -c 'echo 0.5' {outputs}\"\n")
        arguments = ("test", "jsc-tiny", "npy", "--data-dir", "rows", "--task", "regression", "--config", "m.toml")
        self.mase(*arguments, "--require", "half >= 0.5")
        self.assertIn("half is 0.5", self.mase(*arguments, "--require", "half >= 0.6", code=1).stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--mase", required=True, type=Path)
    parser.add_argument("--source", required=True, type=Path)
    arguments, rest = parser.parse_known_args()
    MASE, SOURCE = arguments.mase.resolve(), arguments.source.resolve()
    unittest.main(argv=[sys.argv[0], *rest])
