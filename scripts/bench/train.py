#!/usr/bin/env python3
"""Training steps per second of mase against eager PyTorch with its default Adam.

Network: the four-layer jet tagger jsc-mlp (16-64-32-32-5, batch norm and ReLU), batch 256, one thread, data
gathering and loss included on both sides. The two programs alternate, the medians are compared.

Usage: train.py PATH_TO_BENCH_TRAIN [ROUNDS]    (run with a Python that has torch)
"""

import statistics
import subprocess
import sys
import time

BATCH, STEPS = 256, 1000


def build_network(torch):
    layers, width = [], 16
    for outputs in (64, 32, 32, 5):
        layers += [torch.nn.Linear(width, outputs), torch.nn.BatchNorm1d(outputs), torch.nn.ReLU()]
        width = outputs
    return torch.nn.Sequential(*layers)


def torch_steps_per_second():
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    network = build_network(torch).train()
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    inputs = torch.randn(40 * BATCH, 16)
    labels = inputs[:, :5].argmax(1)

    def run(steps):
        order = torch.randperm(len(inputs))
        for step in range(steps):
            first = step % 40 * BATCH
            if first == 0:
                order = torch.randperm(len(inputs))
            rows = order[first:first + BATCH]
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(network(inputs[rows]), labels[rows])
            loss.backward()
            optimizer.step()

    run(STEPS // 10)
    begin = time.perf_counter()
    run(STEPS)
    return STEPS / (time.perf_counter() - begin)


def mase_steps_per_second(program):
    command = [program, "jsc-mlp", str(BATCH), str(STEPS)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main():
    program = sys.argv[1]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    reference, ours = [], []
    for _ in range(rounds):
        reference.append(torch_steps_per_second())
        ours.append(mase_steps_per_second(program))
    theirs, mine = statistics.median(reference), statistics.median(ours)
    print(f"eager PyTorch {theirs:.0f} steps/s, mase {mine:.0f} steps/s, ratio {mine / theirs:.2f}"
          f" (medians of {rounds} alternated runs, batch {BATCH}, one thread)")


if __name__ == "__main__":
    main()
