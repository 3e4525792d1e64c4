#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares training steps per second of processor time of mase and of PyTorch with its default Adam.

Against torch.compile: jsc-mlp, lenet, resnet8, a residual MLP and a residual convnet in float, each the same
network on both sides; the loss is compiled too. The exit code is 1 when one misses its goal.
Against eager PyTorch: jsc-mlp in float, then jsc-s, toy and lenet with formats on data_in, weight and bias of every
linear and convolution layer. PyTorch quantizes by the chain of operators that one writes by hand, with a
straight-through gradient. One thread; data gathering and loss included on both sides. The two programs
alternate, the medians are compared. Formats that this build does not know are skipped with a line saying so.

Usage: train.py PATH_TO_BENCH_TRAIN [ROUNDS [NETWORK...]]    (run with a Python that has torch; NETWORK: those
of the first table only)
"""

import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
import torch
from torch.nn import functional

BATCH = 256
STEPS = {"jsc-mlp": 1000, "jsc-s": 500, "toy": 500, "lenet": 40, "resnet8": 5, "residual-mlp": 400, "residual-cnn": 30}


# The chains of operators ------------------------------------------------------------------------


def integer(width, frac_width):
    scale, low, high = 2.0**frac_width, -(2.0 ** (width - 1)), 2.0 ** (width - 1) - 1
    return lambda x: torch.clamp(torch.round(x * scale), low, high) / scale


def minifloat(exponent_width, mantissa_width):
    bias = 2 ** (exponent_width - 1) - 1
    largest = 2.0 ** (2**exponent_width - 1 - bias) * (2 - 2.0**-mantissa_width)

    def quantize(x):
        exponent = torch.clamp(torch.floor(torch.log2(torch.abs(x) + 1e-38)), min=1 - bias)
        step = torch.exp2(exponent - mantissa_width)
        return torch.clamp(torch.round(x / step) * step, -largest, largest)

    return quantize


def mxfp4(x):
    length = x.shape[-1]
    padded = functional.pad(x, (0, -length % 32))
    blocks = padded.reshape(*padded.shape[:-1], -1, 32)
    peak = torch.amax(torch.abs(blocks), dim=-1, keepdim=True)
    scale = torch.exp2(torch.clamp(torch.floor(torch.log2(peak + 1e-38)) - 2, -127, 127))
    scaled = blocks / scale
    step = torch.exp2(torch.clamp(torch.floor(torch.log2(torch.abs(scaled) + 1e-38)), 0, 2) - 1)
    codes = torch.clamp(torch.round(scaled / step) * step, -6, 6)
    return (codes * scale).reshape(padded.shape)[..., :length]


def binary(x):
    scale = torch.mean(torch.abs(x), dim=list(range(1, x.dim())), keepdim=True)
    return torch.where(x >= 0, scale, -scale)


def ternary(x):
    size = torch.abs(x)
    dims = list(range(1, x.dim()))
    kept = (size > 0.75 * torch.mean(size, dim=dims, keepdim=True)).to(x.dtype)
    scale = torch.sum(size * kept, dim=dims, keepdim=True) / torch.sum(kept, dim=dims, keepdim=True)
    return torch.sign(x) * kept * scale


# Label, formats by port in mase, quantizers of the same ports here. Binary and ternary are weights' formats.
EIGHT = "integer(8, 4)"
ROWS = [
    ("integer(8, 4)", [EIGHT] * 3, [integer(8, 4)] * 3),
    ("minifloat e4m3", ["minifloat_ieee(width=8, exponent_width=4)"] * 3, [minifloat(4, 3)] * 3),
    ("mxfp4 e2m1", ["mxfp(exponent_width=2, frac_width=1)"] * 2 + [EIGHT], [mxfp4, mxfp4, integer(8, 4)]),
    ("binary weights", [EIGHT, "binary(bipolar=true, scaled=true)", EIGHT], [integer(8, 4), binary, integer(8, 4)]),
    ("ternary weights", [EIGHT, "ternary(scaling_factor=true)", EIGHT], [integer(8, 4), ternary, integer(8, 4)]),
]
PORTS = ("data_in", "weight", "bias")


# The networks in PyTorch ------------------------------------------------------------------------


class StraightThrough(torch.autograd.Function):
    @staticmethod
    def forward(context, x, quantizer):
        return quantizer(x)

    @staticmethod
    def backward(context, gradient):
        return gradient, None


class QuantLinear(torch.nn.Linear):
    def forward(self, x):
        data_in, weight, bias = self.quantizers
        apply = StraightThrough.apply
        return functional.linear(apply(x, data_in), apply(self.weight, weight), apply(self.bias, bias))


class QuantConv2d(torch.nn.Conv2d):
    def forward(self, x):
        data_in, weight, bias = self.quantizers
        apply = StraightThrough.apply
        # `lenet` has a bias in its first convolution only.
        shift = None if self.bias is None else apply(self.bias, bias)
        return functional.conv2d(apply(x, data_in), apply(self.weight, weight), shift)


def jsc_mlp(linear, conv):
    layers, width = [], 16
    for outputs in (64, 32, 32, 5):
        layers += [linear(width, outputs), torch.nn.BatchNorm1d(outputs), torch.nn.ReLU()]
        width = outputs
    return torch.nn.Sequential(*layers)


def jsc_s(linear, conv):
    nn = torch.nn
    return nn.Sequential(
        nn.BatchNorm1d(16), nn.ReLU(), linear(16, 64), nn.BatchNorm1d(64), nn.ReLU(), linear(64, 32), nn.ReLU(),
        linear(32, 32), nn.ReLU(), linear(32, 32), nn.ReLU(), linear(32, 5), nn.BatchNorm1d(5), nn.ReLU())  # fmt: skip


def toy(linear, conv):
    nn = torch.nn
    return nn.Sequential(nn.Flatten(), linear(784, 8), nn.ReLU(), linear(8, 8), nn.ReLU(), linear(8, 10))


def lenet(linear, conv):
    nn = torch.nn
    return nn.Sequential(
        conv(1, 8, 5), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), conv(8, 16, 5, bias=False), nn.BatchNorm2d(16),
        nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), linear(256, 64), nn.ReLU(), linear(64, 10))  # fmt: skip


class Residual(torch.nn.Module):
    """relu(body(x) + shortcut(x))"""

    def __init__(self, body, shortcut):
        super().__init__()
        self.body, self.shortcut = body, shortcut

    def forward(self, x):
        return functional.relu(self.body(x) + self.shortcut(x))


def resnet8(linear, conv):
    nn = torch.nn

    def block(inputs, outputs, stride):
        body = nn.Sequential(
            conv(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(),
            conv(outputs, outputs, 3, 1, 1, bias=False), nn.BatchNorm2d(outputs))  # fmt: skip
        same = stride == 1 and inputs == outputs
        projection = nn.Sequential(conv(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))
        return Residual(body, nn.Identity() if same else projection)

    return nn.Sequential(
        conv(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU(), block(16, 16, 1), block(16, 32, 2),
        block(32, 64, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), linear(64, 10))  # fmt: skip


def residual_mlp(linear, conv):
    nn = torch.nn
    bodies = [nn.Sequential(linear(64, 64), nn.BatchNorm1d(64), nn.ReLU(), linear(64, 64), nn.BatchNorm1d(64))
              for _ in range(3)]  # fmt: skip
    return nn.Sequential(linear(16, 64), nn.ReLU(), *(Residual(body, nn.Identity()) for body in bodies), linear(64, 5))


def residual_cnn(linear, conv):
    nn = torch.nn
    body = nn.Sequential(conv(8, 8, 3, padding=1), nn.BatchNorm2d(8))
    return nn.Sequential(
        conv(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), Residual(body, nn.Identity()),
        conv(8, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), linear(16 * 49, 10))  # fmt: skip


# name → builder, shape of a row, classes
NETWORKS = {"jsc-mlp": (jsc_mlp, (16,), 5), "jsc-s": (jsc_s, (16,), 5), "toy": (toy, (1, 28, 28), 10),
            "lenet": (lenet, (1, 28, 28), 10), "resnet8": (resnet8, (3, 32, 32), 10),
            "residual-mlp": (residual_mlp, (16,), 5), "residual-cnn": (residual_cnn, (1, 28, 28), 10)}  # fmt: skip

# How many times as fast as torch.compile mase is to be.
GOALS = {"jsc-mlp": 5, "lenet": 5, "resnet8": 3, "residual-mlp": 3, "residual-cnn": 3}


class TorchTraining:
    def __init__(self, name, quantizers, compiled=False):
        torch.set_num_threads(1)
        torch.manual_seed(0)
        builder, shape, classes = NETWORKS[name]
        linear, conv = (QuantLinear, QuantConv2d) if quantizers else (torch.nn.Linear, torch.nn.Conv2d)
        self.network = builder(linear, conv).train()
        for layer in self.network.modules():
            layer.quantizers = quantizers
        self.steps = STEPS[name]
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=1e-3)
        self.inputs = torch.randn(10 * BATCH, *shape)
        self.labels = self.inputs.flatten(1)[:, :classes].argmax(1)
        self.loss = torch.compile(self.plain_loss) if compiled else self.plain_loss
        self.run(max(3, self.steps // 10))

    def plain_loss(self, inputs, labels):
        return functional.cross_entropy(self.network(inputs), labels)

    def run(self, steps):
        order = torch.randperm(len(self.inputs))
        for step in range(steps):
            first = step % 10 * BATCH
            if first == 0:
                order = torch.randperm(len(self.inputs))
            rows = order[first : first + BATCH]
            self.optimizer.zero_grad()
            self.loss(self.inputs[rows], self.labels[rows]).backward()
            self.optimizer.step()

    def steps_per_second(self):
        begin = time.process_time()
        self.run(self.steps)
        return self.steps / (time.process_time() - begin)


def mase_steps_per_second(program, name, formats, file=None):
    """None when the build does not know a format."""
    ports = [f"{port}={text}" for port, text in zip(PORTS, formats)]
    command = [program, file or name, str(BATCH), str(STEPS[name]), *ports]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(f"{name:8} skipped: {done.stderr.strip().splitlines()[0]}")
        return None
    return float(done.stdout)


def compare(program, rounds, name, label, formats, quantizers):
    reference, ours = [], []
    for _ in range(rounds):
        mine = mase_steps_per_second(program, name, formats)
        if mine is None:
            return
        ours.append(mine)
        reference.append(TorchTraining(name, quantizers).steps_per_second())
    theirs, mine = statistics.median(reference), statistics.median(ours)
    print(f"{name:8} {label:16} eager PyTorch {theirs:7.1f} steps/s, mase {mine:8.1f} steps/s, "
          f"ratio {mine / theirs:6.2f}", flush=True)  # fmt: skip


def beside_compile(program, rounds, name, folder):
    """Whether the goal is met."""
    training = TorchTraining(name, None, compiled=True)
    file = folder / f"{name}.pt"
    torch.jit.script(training.network).save(file)
    numpy.save(file.with_suffix(".npy"), training.inputs[:2].numpy())
    reference, ours = [], []
    for _ in range(rounds):
        ours.append(mase_steps_per_second(program, name, [], file))
        reference.append(training.steps_per_second())
    theirs, mine = statistics.median(reference), statistics.median(ours)
    met = mine >= GOALS[name] * theirs
    print(f"{name:12} torch.compile {theirs:7.1f} steps/s, mase {mine:8.1f} steps/s, ratio {mine / theirs:6.2f} "
          f"(goal {GOALS[name]}){'' if met else '  missed'}", flush=True)  # fmt: skip
    return met


def main():
    program = sys.argv[1]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    print(
        f"batch {BATCH}, one thread, processor time, medians of {rounds} alternated runs; float first, then by format"
    )
    with tempfile.TemporaryDirectory() as folder:
        names = sys.argv[3:] or GOALS
        met = [beside_compile(program, rounds, name, pathlib.Path(folder)) for name in names]
    if len(sys.argv) <= 3:
        compare(program, rounds, "jsc-mlp", "float", [], None)
        for name in ("jsc-s", "toy", "lenet"):
            compare(program, rounds, name, "float", [], None)
            for label, formats, quantizers in ROWS:
                compare(program, rounds, name, label, formats, quantizers)
    sys.exit(not all(met))


if __name__ == "__main__":
    main()
