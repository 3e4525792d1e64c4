#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares training steps per second of two processes of mase and of DistributedDataParallel over gloo.

The same networks, 128 rows per process and one thread each, with Adam; gathering rows and the loss are included. mase
trains for two numbers of steps, whose difference in time leaves its start and its end out. The two programs alternate,
and the medians are compared. Batch norms of mase see the rows of both processes; those of PyTorch see their own rows,
since its SyncBatchNorm does not run on the CPU.

usage: processes.py PATH_TO_MASE [ROUNDS]    (run with a Python that has torch)
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy
import torch
from torch import distributed, multiprocessing
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel
from train import jsc_mlp, lenet

PROCESSES, BATCH = 2, 128
# Network → itself in PyTorch, the shape of a row, rows of the data set, and the steps of a short run and a long one.
NETWORKS = {"jsc-mlp": (jsc_mlp, (16,), 200000, 50, 550), "lenet": (lenet, (1, 28, 28), 20000, 5, 45)}


def rows_of(network):
    _, shape, count, *_ = NETWORKS[network]
    random = numpy.random.default_rng(0)
    classes = 5 if network == "jsc-mlp" else 10
    return random.random((count, *shape), dtype=numpy.float32), random.integers(0, classes, count)


def seconds_of_mase(program, network, folder, steps):
    command = [program, "train", network, "npy", "--data-dir", folder, "--batch-size", BATCH, "--max-steps", steps]
    command += ["--nproc", PROCESSES, "--overwrite", "--project-dir", folder, "--project", "run", "-q"]
    begin = time.perf_counter()
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def rate_of_mase(program, network, folder):
    *_, few, many = NETWORKS[network]
    short = seconds_of_mase(program, network, folder, few)
    return (many - few) / (seconds_of_mase(program, network, folder, many) - short)


def train_rank(rank, network, meeting, result):
    """Writes the steps per second of a process after a few steps."""
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=PROCESSES)
    make, *_, few, many = NETWORKS[network]
    model = DistributedDataParallel(make(torch.nn.Linear, torch.nn.Conv2d))
    optimizer = torch.optim.Adam(model.parameters())
    x, y = map(torch.from_numpy, rows_of(network))
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(1))[rank::PROCESSES]
    for step in range(many):
        if step == few:
            begin = time.perf_counter()
        rows = order[step * BATCH : (step + 1) * BATCH]
        loss = functional.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if rank == 0:
        result.value = (many - few) / (time.perf_counter() - begin)
    distributed.destroy_process_group()


def rate_of_torch(network, folder):
    meeting = Path(folder) / "meeting"
    meeting.unlink(missing_ok=True)
    result = multiprocessing.get_context("spawn").Value("d", 0)
    multiprocessing.spawn(train_rank, (network, str(meeting), result), PROCESSES)
    return result.value


def main():
    os.environ["OMP_NUM_THREADS"] = "1"
    program, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    for network in NETWORKS:
        with tempfile.TemporaryDirectory() as folder:
            for name, values in zip("xy", rows_of(network), strict=True):
                numpy.save(Path(folder) / f"{name}.npy", values)
            pairs = [(rate_of_mase(program, network, folder), rate_of_torch(network, folder)) for _ in range(rounds)]
        mine, theirs = (statistics.median(rates) for rates in zip(*pairs, strict=True))
        ratio = statistics.median(a / b for a, b in pairs)
        print(f"{network:8} DistributedDataParallel {theirs:8.1f}  mase {mine:8.1f} steps/s, ratio {ratio:.2f}")


if __name__ == "__main__":
    main()
