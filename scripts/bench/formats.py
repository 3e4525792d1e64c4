# SPDX-License-Identifier: Apache-2.0
"""Compares number formats with memcpy and with chains of PyTorch operators, in one run on one thread.

Usage: formats.py BENCH_FORMATS [ELEMENTS] [ROUNDS]. Runs the program and, format by format, the chain of op_chains.py
on as many normal numbers; prints GB/s, the share of memcpy's speed of quantizing and of encoding, the ratio to the
chain, and whether the goals are met.
"""

import json
import subprocess
import sys
import time

import op_chains
import torch

GOALS = {  # share of memcpy that quantizing should reach
    "integer": 0.8,
    "fixed": 0.8,
    "binary": 0.8,
    "ternary": 0.8,
    "minifloat": 0.5,
    "fp": 0.5,
    "log": 0.5,
    "block_fp": 0.6,
    "mxint": 0.6,
    "mxfp": 0.4,
    "block_minifloat": 0.4,
    "nvfp4": 0.4,
}
ENCODE_GOAL, CHAIN_GOAL = 0.3, 10


def goal_of(text):
    """By the longest name that the format's text begins with."""
    names = [name for name in GOALS if text.startswith(name)]
    return GOALS[max(names, key=len)] if names else None


def seconds_of(run, rounds):
    """Processor time of this thread, as the program measures its own."""
    run()
    times = []
    for _ in range(rounds):
        start = time.thread_time()
        run()
        times.append(time.thread_time() - start)
    return sorted(times)[len(times) // 2]


def chain_seconds(text, values):
    chain = op_chains.chain(text)
    return seconds_of(lambda: chain(values), 3) if chain else None


def main():
    program, elements, rounds = sys.argv[1], *(sys.argv[2:] + ["16777216", "11"][len(sys.argv) - 2 :])
    torch.set_num_threads(1)
    rows = json.loads(
        subprocess.run([program, elements, rounds, "json"], check=True, capture_output=True, text=True).stdout
    )
    values = torch.randn(int(elements) // 4096, 4096, generator=torch.Generator().manual_seed(1))
    print(f"{'format':46} {'GB/s':>6} {'of memcpy':>9} {'goal':>5} {'encode':>7} {'goal':>5} {'chain':>7} {'goal':>4}")
    missed = 0
    for row in rows:
        text, goal, chain = row["format"], goal_of(row["format"]), chain_seconds(row["format"], values)
        ratio = chain / row["seconds"] if chain else None
        verdicts = [
            goal is None or row["quantize"] >= goal,
            row["encode"] >= ENCODE_GOAL,
            ratio is None or ratio >= CHAIN_GOAL,
        ]
        missed += verdicts.count(False)
        print(
            f"{text:46} {8e-9 * int(elements) / row['seconds']:6.1f} {row['quantize']:9.0%} {f'{goal:.0%}' if goal else '':>5}"
            f" {row['encode']:7.0%} {ENCODE_GOAL:5.0%} {f'{ratio:.0f} x' if ratio else '':>7} {CHAIN_GOAL if ratio else '':>4}"
            f" {'' if all(verdicts) else '  missed'}"
        )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
