#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares quantized training of lenet by mase on a device with that by eager PyTorch on the same device.

The inputs, weights and biases of linear and convolution layers are integer(8, 4), with Adam and 256 rows a step. PyTorch
quantizes by the chain of operators that one writes by hand, with a straight-through gradient. Rows are gathered on the
CPU on both sides. mase trains for two numbers of steps, whose difference in time leaves its start and its end out. The
two programs alternate, and the medians are compared: of seconds, or on the CPU of processor time. Where PyTorch or
LibTorch lacks the device, nothing is run.

usage: device_train.py PATH_TO_MASE [DEVICE [ROUNDS [STEPS]]]    (run with a Python that has torch)
"""

import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy
import torch
from torch.nn import functional
from train import BATCH, QuantConv2d, QuantLinear, integer, lenet

FEW = 10  # steps of the short run of mase, and those before PyTorch is timed

CONFIG = "".join(
    f'[passes.quantize.{layer}.config]\nname = "integer"\n'
    + "".join(f"{port}_width = 8\n{port}_frac_width = 4\n" for port in ("data_in", "weight", "bias"))
    for layer in ("linear", "conv2d")
)


def run_mase(program, *words):
    return subprocess.run([str(word) for word in (program, *words)], check=True, capture_output=True, text=True).stdout


def own_seconds(device):
    return time.process_time() if device == "cpu" else time.perf_counter()


def seconds_of_programs(device):
    if device != "cpu":
        return time.perf_counter()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def missing(program, device):
    """Who lacks the device, or an empty text."""
    if device == "cpu":
        return ""
    kind = torch.device(device).type
    if not (hasattr(torch, kind) and getattr(torch, kind).is_available()):
        return f"PyTorch has no {device.upper()} device"
    parts = json.loads(run_mase(program, "doctor", "--json"))["parts"]
    here = next(part for part in parts if part["part"] == "LibTorch")["details"]["devices"]
    return "" if kind in here else f"LibTorch has no {device.upper()} device"


def make_rows(folder, steps):
    random = numpy.random.default_rng(0)
    count = min(20000, BATCH * steps)
    x, y = random.random((count, 1, 28, 28), dtype=numpy.float32), random.integers(0, 10, count)
    numpy.save(folder / "x.npy", x)
    numpy.save(folder / "y.npy", y)
    return torch.from_numpy(x), torch.from_numpy(y)


def rate_of_mase(program, device, folder, steps):
    def seconds(count):
        words = ("train", folder / "q", "npy", "--data-dir", folder, "--batch-size", BATCH, "--device", device, "-q")
        begin = seconds_of_programs(device)
        run_mase(program, *words, "--max-steps", count, "--overwrite", "--project-dir", folder, "--project", "run")
        return seconds_of_programs(device) - begin

    short, long = seconds(FEW), seconds(FEW + steps)
    if long <= short:
        sys.exit(f"{steps} steps more took no longer, for the noise of this machine; give more steps")
    return steps / (long - short)


def rate_of_torch(device, rows, steps):
    x, y = rows
    model = lenet(QuantLinear, QuantConv2d).to(device).train()
    for layer in model.modules():
        layer.quantizers = [integer(8, 4)] * 3
    optimizer = torch.optim.Adam(model.parameters())
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(1))

    def run(first_step, count):
        """Trains for some steps, and waits for the device."""
        for step in range(first_step, first_step + count):
            first = step * BATCH % (len(x) - BATCH + 1)
            chosen = order[first : first + BATCH]
            optimizer.zero_grad()
            loss = functional.cross_entropy(model(x[chosen].to(device)), y[chosen].to(device))
            loss.backward()
            optimizer.step()
        return loss.item()

    run(0, FEW)
    begin = own_seconds(device)
    run(FEW, steps)
    return steps / (own_seconds(device) - begin)


def main():
    program, device, rounds, steps = sys.argv[1], *(sys.argv[2:] + ["cuda", "5", "200"][len(sys.argv) - 2 :])
    rounds, steps = int(rounds), int(steps)
    lacking = missing(program, device)
    if lacking:
        print(f"not run: {lacking}")
        return
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = make_rows(folder, steps)
        (folder / "q.toml").write_text(CONFIG)
        words = ("transform", "lenet", "npy", "--data-dir", folder, "--config", folder / "q.toml", "-q")
        run_mase(program, *words, "--project-dir", folder, "--project", "q")
        ours, theirs = [], []
        for _ in range(rounds):
            ours.append(rate_of_mase(program, device, folder, steps))
            theirs.append(rate_of_torch(device, rows, steps))
    mine, other = statistics.median(ours), statistics.median(theirs)
    print(f"lenet    integer(8, 4) on {device}: eager PyTorch {other:7.1f} steps/s, mase {mine:8.1f} steps/s, "
          f"ratio {mine / other:6.2f}")  # fmt: skip


if __name__ == "__main__":
    main()
