#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Training steps per second of mase against eager PyTorch with its default Adam.

Networks: jsc-mlp in float, then jsc-s, toy and lenet with formats on data_in, weight and bias of every linear
and convolution layer. PyTorch quantizes by the chain of operators that one writes by hand, with a
straight-through gradient. One thread; data gathering and loss included on both sides. The two programs
alternate, the medians are compared. Formats that this build does not know are skipped with a line saying so.

Usage: train.py PATH_TO_BENCH_TRAIN [ROUNDS]    (run with a Python that has torch)
"""

import statistics
import subprocess
import sys
import time

import torch
from torch.nn import functional

BATCH = 256
STEPS = {"jsc-mlp": 1000, "jsc-s": 500, "toy": 500, "lenet": 40}


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


# name → builder, shape of a row, classes
NETWORKS = {"jsc-mlp": (jsc_mlp, (16,), 5), "jsc-s": (jsc_s, (16,), 5), "toy": (toy, (1, 28, 28), 10),
            "lenet": (lenet, (1, 28, 28), 10)}  # fmt: skip


def torch_steps_per_second(name, quantizers):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    builder, shape, classes = NETWORKS[name]
    linear, conv = (QuantLinear, QuantConv2d) if quantizers else (torch.nn.Linear, torch.nn.Conv2d)
    network = builder(linear, conv).train()
    for layer in network.modules():
        layer.quantizers = quantizers
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    inputs = torch.randn(40 * BATCH, *shape)
    labels = inputs.flatten(1)[:, :classes].argmax(1)

    def run(steps):
        order = torch.randperm(len(inputs))
        for step in range(steps):
            first = step % 40 * BATCH
            if first == 0:
                order = torch.randperm(len(inputs))
            rows = order[first : first + BATCH]
            optimizer.zero_grad()
            loss = functional.cross_entropy(network(inputs[rows]), labels[rows])
            loss.backward()
            optimizer.step()

    run(max(1, STEPS[name] // 10))
    begin = time.perf_counter()
    run(STEPS[name])
    return STEPS[name] / (time.perf_counter() - begin)


def mase_steps_per_second(program, name, formats):
    """None when the build does not know a format."""
    ports = [f"{port}={text}" for port, text in zip(PORTS, formats)]
    done = subprocess.run([program, name, str(BATCH), str(STEPS[name]), *ports], capture_output=True, text=True)
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
        reference.append(torch_steps_per_second(name, quantizers))
    theirs, mine = statistics.median(reference), statistics.median(ours)
    print(f"{name:8} {label:16} eager PyTorch {theirs:7.1f} steps/s, mase {mine:8.1f} steps/s, "
          f"ratio {mine / theirs:6.2f}", flush=True)  # fmt: skip


def main():
    program = sys.argv[1]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    print(f"batch {BATCH}, one thread, medians of {rounds} alternated runs; float first, then by format")
    compare(program, rounds, "jsc-mlp", "float", [], None)
    for name in ("jsc-s", "toy", "lenet"):
        compare(program, rounds, name, "float", [], None)
        for label, formats, quantizers in ROWS:
            compare(program, rounds, name, label, formats, quantizers)


if __name__ == "__main__":
    main()
