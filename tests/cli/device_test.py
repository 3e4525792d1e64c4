#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Commands on another device than the CPU: what they print and write is what they do on the CPU.

usage: device_test.py --mase BINARY --source ROOT --pretend LIBRARY [unittest arguments]

The cases run on a device that exists in tests only (tests/pretend_device), which computes with the kernels of the CPU
and whose memory crashes whoever reads it from outside; and on the first accelerator of LibTorch, where there is one.
"""

import argparse
import json
import math
import os
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from several_processes_test import numbers_of, weights
from train_emit_test import write_npy

MASE = SOURCE = PRETEND = None

FORMATS = """
[passes.quantize]
by = "type"
[passes.quantize.linear.config]
name = "integer"
data_in_width = 8
data_in_frac_width = 5
weight_width = 6
weight_frac_width = 5
bias_width = 8
bias_frac_width = 5
"""

SGD = ("--training-optimizer", "sgd")

COMPENSATED = """
[passes.quantize]
by = "type"
[passes.quantize.linear.config]
name = "integer"
weight_width = 3
weight_frac_width = 2
[passes.gptq]
num_samples = 64
"""

STATISTICS = """
[passes.profile_statistics]
by = "type"
target_weight_nodes = ["linear"]
target_activation_nodes = ["linear", "relu"]
num_samples = 64
profile_output_activation = true
[passes.profile_statistics.weight_statistics.variance_precise]
[passes.profile_statistics.activation_statistics.variance_online]
[passes.profile_statistics.activation_statistics.range_quantile]
"""

SEARCH = """
model = "jsc-three-linear"
dataset = "jsc"
max_steps = 5
[search.search_space]
name = "graph/quantize/mixed_precision_ptq"
[search.search_space.setup]
by = "type"
[search.search_space.seed.linear.config]
name = ["integer"]
data_in_width = [6, 8]
data_in_frac_width = [4]
weight_width = [4, 8]
weight_frac_width = ["auto"]
bias_width = [8]
bias_frac_width = [6]
[search.strategy]
name = "optuna"
[search.strategy.sw_runner.basic_evaluation]
data_loader = "val_dataloader"
[search.strategy.setup]
n_trials = 3
sampler = "random"
[search.strategy.metrics]
accuracy.direction = "maximize"
"""

# An accelerator sums in another order: products of at most 1000 terms near 1 differ by some 1000 * 2^-24.
TOLERANCE = 1e-4

# The gradient of l1 is a sign divided by the number of outputs, which has the same bits everywhere. So have the results
# of all other operators of the pretend device, and training there must have the bits of the CPU.
EXACT = ("--dataset", "npy", "--data-dir", "rows", "--task", "regression", "--loss", "l1", "--batch-size", "16")


def read_floats(path):
    data = Path(path).read_bytes()
    begin = 10 + struct.unpack("<H", data[8:10])[0]
    assert b"'<f4'" in data[:begin], data[:begin]
    return struct.unpack(f"<{(len(data) - begin) // 4}f", data[begin:])


def without_losses(figures):
    """The figures that count rows; losses are those of another order of sums."""
    if not isinstance(figures, dict):
        return figures
    return {name: without_losses(value) for name, value in figures.items() if name != "loss"}


def first_accelerator():
    """What `mase doctor` lists besides the CPU without any pretence."""
    parts = json.loads(subprocess.run([MASE, "doctor", "--json"], capture_output=True, check=True).stdout)["parts"]
    devices = next(part for part in parts if part["part"] == "LibTorch")["details"]["devices"].split(", ")
    return devices[1] if len(devices) > 1 else None


class OnDevice:
    """The cases, for subclasses that say which device."""

    environment = os.environ
    device = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def mase(self, *words, code=0, **more):
        command = [MASE, *map(str, words)]
        done = subprocess.run(
            command, cwd=self.folder, env={**self.environment, **more}, capture_output=True, text=True, timeout=600
        )
        self.assertEqual(done.returncode, code, f"{command}\n{done.stdout}{done.stderr}")
        return done.stderr if code else done.stdout

    def check_close(self, mine, theirs):
        self.assertEqual(len(mine), len(theirs))
        worst = max(abs(a - b) for a, b in zip(mine, theirs, strict=True))
        self.assertLessEqual(worst, TOLERANCE * max(1, *map(abs, theirs)))

    def check_trained(self, mine, theirs):
        """The steps of the pretend device are those of the CPU bit for bit."""
        if self.device.startswith("privateuseone"):
            self.assertEqual(mine, theirs)
        else:
            self.check_close(mine, theirs)

    def run_model(self, model, folder, *words):
        """The results of a fixture on the device and on the CPU."""
        inputs = [w for file in sorted(folder.glob("input*.npy")) for w in ("--input", file)]
        for name, device in (("there", self.device), ("here", "cpu")):
            self.mase("run", model, *inputs, "--output", f"{name}.npy", "--device", device, *words)
        names = sorted(file.name[5:] for file in self.folder.glob("there*.npy"))
        self.assertTrue(names)
        return [[read_floats(self.folder / (place + name)) for name in names] for place in ("there", "here")]

    def test_models_of_every_kind(self):
        """Convolutions, attention, embeddings, gathered rows, several inputs and results."""
        for name in ("lenet", "resnet8", "unet_tiny", "vit_tiny", "bert_tiny", "two_inputs", "dict_output"):
            with self.subTest(name):
                folder = SOURCE / "tests/fixtures/models" / name
                there, here = self.run_model(min(folder.glob("*.pt")), folder, "--level", "float")
                for mine, theirs in zip(there, here, strict=True):
                    self.check_close(mine, theirs)

    def test_scores(self):
        words = ("test", "jsc-tiny", "jsc", "--json", "--level", "float")
        there, here = (json.loads(self.mase(*words, "--device", name))["scores"] for name in (self.device, "cpu"))
        self.assertEqual(there["accuracy"], here["accuracy"])
        self.assertAlmostEqual(there["loss"], here["loss"], delta=TOLERANCE)

    def both(self, *words):
        """Runs a command on the device and on the CPU, in the projects there and here."""
        for name, device in (("there", self.device), ("here", "cpu")):
            self.mase(*words, "--project", name, "--device", device)

    def weights_of(self, project):
        return weights(self.folder / "mase_output" / project)

    def make_rows(self, *row):
        """80 rows of numbers, and 5 numbers for each."""
        (self.folder / "rows").mkdir(exist_ok=True)
        for name, shape, step in (("x", (80, *row), 37), ("y", (80, 5), 53)):
            values = [(i * step % 101) / 50 - 1 for i in range(math.prod(shape))]
            write_npy(self.folder / f"rows/{name}.npy", "<f4", shape, struct.pack(f"<{len(values)}f", *values))

    def train(self, project, device, *words, steps=20, model="jsc-s"):
        """With folded batch norms both use autograd, and the CPU its own kernels for each operator."""
        self.make_rows(16)
        words = ("train", model, *EXACT, "--max-steps", steps, "--fold-batch-norm", *words)
        self.mase(*words, "--project", project, "--device", device)
        return self.weights_of(project)

    def check_same_training(self, *words, **more):
        there, here = (self.train(name, at, *words, **more) for name, at in (("there", self.device), ("here", "cpu")))
        self.check_trained(there, here)

    def test_training(self):
        words = ("--ema-decay", "0.9", "--schedule", "cosine", "--weight-decay", "0.01", "--overwrite")
        for optimizer in ("adam", "adamw", "sgd"):
            with self.subTest(optimizer):
                self.check_same_training(*words, "--gradient-clip", "0.1", "--training-optimizer", optimizer)

    def test_sums_of_gradients(self):
        """The means of several batches in a step, and the sums of shards."""
        for words in (("--accumulate-grad-batches", "2"), ("--shards", "2")):
            with self.subTest(words[0]):
                self.check_same_training(*words, "--overwrite", steps=8)

    def test_training_elsewhere(self):
        """What was begun on one device goes on with the same bits as on the other, both ways."""
        words = ("--ema-decay", "0.9")
        whole = self.train("here", "cpu", *words)
        for first, second in ((self.device, "cpu"), ("cpu", self.device)):
            self.train(first[:3], first, *words, steps=10)
            self.check_trained(self.train(first[:3], second, *words, "--resume"), whole)

    def quantize_model(self, *more):
        (self.folder / "q.toml").write_text(FORMATS + "".join(line + "\n" for line in more))
        self.mase("transform", "jsc-s", "jsc", "--config", "q.toml", "--project", "q", "--device", self.device)

    def test_quantized_training(self):
        """Straight-through gradients, batch statistics, formats, learned steps, and rounding by chance."""
        self.quantize_model()
        for words in ((), ("--learn-scales",), ("--gradient-format", "mxfp8_e5m2(rounding=stochastic)")):
            with self.subTest(words):
                self.check_same_training(*words, "--overwrite", model="mase_output/q", steps=10)

    def test_clipped_gradients(self):
        self.quantize_model('data_in_ste = "clip"', 'weight_ste = "clip"')
        self.check_same_training(model="mase_output/q", steps=10)

    def test_recurrent_training(self):
        """Devices compute the gates of a step in one operator."""
        self.make_rows(3, 4)
        model = SOURCE / "tests/fixtures/programs/LastOfLstm.pt"
        self.both("train", model, *EXACT, *SGD, "--max-steps", "10")
        self.check_close(self.weights_of("there"), self.weights_of("here"))
        untrained = numbers_of(model)
        self.assertGreater(
            max(abs(a - b) for a, b in zip(self.weights_of("here"), untrained, strict=True)), 10 * TOLERANCE
        )

    def transformed(self, passes):
        """The numbers of a model after passes, and what they say."""
        (self.folder / "t.toml").write_text(passes)
        words = ("transform", "jsc-s", "jsc", "--config", "t.toml", "--json", "--overwrite", "--project")
        for name, device in (("there", self.device), ("here", "cpu")):
            said = json.loads(self.mase(*words, name, "--device", device))
            file = self.folder / f"mase_output/{name}/software/transform/transformed_ckpt/graph_module.pt"
            yield numbers_of(file), said["passes"]

    def test_error_compensation(self):
        (there, _), (here, _) = self.transformed(COMPENSATED)
        self.assertEqual(there, here)
        (nearest, _), _ = self.transformed(COMPENSATED.split("[passes.gptq]")[0])
        self.assertNotEqual(nearest, here)

    def test_statistics(self):
        (_, there), (_, here) = self.transformed(STATISTICS)
        self.check_alike(there, here)

    def check_alike(self, mine, theirs):
        """Trees of equal form, whose numbers are close; but for durations."""
        self.assertIs(type(mine), type(theirs))
        if isinstance(mine, dict):
            self.assertEqual(list(mine), list(theirs))
            for key in mine:
                if key != "seconds":
                    self.check_alike(mine[key], theirs[key])
        elif isinstance(mine, list):
            self.assertEqual(len(mine), len(theirs))
            for a, b in zip(mine, theirs, strict=True):
                self.check_alike(a, b)
        elif isinstance(mine, float):
            self.check_close([mine], [theirs])
        else:
            self.assertEqual(mine, theirs)

    def test_networks(self):
        """Here the CPU has layers of its own, whose sums have another order. A step of sgd keeps such differences small,
        while adam's first steps are as large for tiny gradients as for others."""
        for words in (
            ("lenet", "mnist", "--batch-size", "8"),
            ("bert-tiny", "toy-tokens"),
            ("transformer-jets", "jsc"),
        ):
            with self.subTest(words[0]):
                self.both("train", *words, *SGD, "--max-steps", "2", "--overwrite")
                self.check_close(self.weights_of("there"), self.weights_of("here"))

    def test_several_processes(self):
        for name, device in (("there", self.device.split(":")[0]), ("here", "cpu")):
            self.train(name, device, "--nproc", "2")
        self.check_trained(self.weights_of("there"), self.weights_of("here"))

    def test_calibration(self):
        """Binary points from values on the device are those from the CPU."""
        config = SOURCE / "configs/hardware/transformer_jets.toml"
        self.both("transform", "transformer-jets", "jsc", "--config", config)
        there, here = (self.mase("show", f"mase_output/{name}") for name in ("there", "here"))
        self.assertIn("integer(8, ", there)
        self.assertEqual(there.replace("there", "here"), here)

    def test_search(self):
        (self.folder / "s.toml").write_text(SEARCH)
        self.check_same_search()

    def check_same_search(self):
        found = [
            json.loads(self.mase("search", "--config", "s.toml", "--project", name, "--json", "--device", device))
            for name, device in (("there", self.device), ("here", "cpu"))
        ]
        for name in ("baseline", "best", "test"):
            self.assertEqual(*(without_losses(document[name]) for document in found))

    def test_search_that_trains(self):
        """The trials' trainings are those of the CPU, and so are the figures that count rows."""
        trained = SEARCH.replace('basic_evaluation]\ndata_loader = "val_dataloader"', "basic_train]\nmax_epochs = 1")
        self.assertNotEqual(trained, SEARCH)
        (self.folder / "s.toml").write_text(trained)
        self.check_same_search()

    def test_missing_device(self):
        error = self.mase(
            "run", "lenet", "--input-shape", "1,1,28,28", "--output", "y.npy", "--device", "cuda:99", code=2
        )
        self.assertIn("cuda:99", error)
        self.assertIn("here are cpu", error)
        self.assertIn(self.device, error)

    def test_names(self):
        run = ("run", "lenet", "--input-shape", "1,1,28,28", "--output", "y.npy", "--device")
        for wrong in ("cuda:", "CUDA", "cuda:x", "cpu:0", "auto:1", ""):
            self.assertIn("is not the name of a device", self.mase(*run, wrong, code=2))
        self.assertIn("has no such kind", self.mase(*run, "cudda", code=2))
        (self.folder / "c.toml").write_text("device = 3\n")
        self.assertIn("device", self.mase("test", "lenet", "mnist", "--config", "c.toml", code=2))


class PretendDevice(OnDevice, unittest.TestCase):
    device = "privateuseone:1"

    @property
    def environment(self):
        return {**os.environ, "LD_PRELOAD": str(PRETEND)}

    def test_out_of_memory(self):
        words = ("run", "lenet", "--input-shape", "64,1,28,28", "--output", "y.npy", "--device", self.device)
        error = self.mase(*words, code=3, PRETEND_DEVICE_BYTES="1000000")
        self.assertIn("out of memory", error)
        self.assertIn("node '", error)
        self.assertIn("a smaller batch", error)
        self.assertIn("tensor '", self.mase(*words, code=3, PRETEND_DEVICE_BYTES="1000"))

    def test_missing_operators(self):
        """An operator that the device lacks is told with its node and what helps."""
        run = ("run", "lenet", "--device", self.device, "--input-shape", "1,1,28,28", "--output", "y.npy")
        error = self.mase(*run, code=3, PRETEND_DEVICE_LACKS="aten::addmm")
        self.assertRegex(
            error, r"node 'fc1' \(aten::linear\): .*no kernel for aten::linear \(.*aten::addmm.*--device cpu"
        )
        self.assertFalse((self.folder / "y.npy").exists())
        train = (
            "train",
            "lenet",
            "mnist",
            "--device",
            self.device,
            "--max-steps",
            "1",
            "--project",
            "p",
            "--overwrite",
        )
        for lacking in ("aten::threshold_backward", "aten::_log_softmax"):
            error = self.mase(*train, code=3, PRETEND_DEVICE_LACKS=lacking)
            self.assertRegex(error, f"training: {self.device} has no kernel .*{lacking}.*--device cpu")

    def test_auto(self):
        words = ("run", "lenet", "--input-shape", "1,1,28,28", "--output", "y.npy", "--device", "auto")
        done = subprocess.run(
            [MASE, *words], cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=600
        )
        self.assertIn("device auto is privateuseone:0", done.stdout + done.stderr)
        without = subprocess.run([MASE, *words], cwd=self.folder, capture_output=True, text=True, timeout=600)
        self.assertEqual(without.returncode, 0, without.stderr)


class Accelerator(OnDevice, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.device = first_accelerator()
        if not cls.device:
            raise unittest.SkipTest("LibTorch finds no accelerator here")


def main():
    global MASE, SOURCE, PRETEND
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--mase", "--source", "--pretend"):
        parser.add_argument(name, required=True, type=lambda path: Path(path).resolve())
    args, rest = parser.parse_known_args()
    MASE, SOURCE, PRETEND = args.mase, args.source, args.pretend
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
