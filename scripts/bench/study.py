#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the cost of a trial that measures nothing in a long study of mase and in a short study of Optuna.

Usage: study.py BENCH_STUDY [--trials 20000] [--optuna-trials 300]
(run with a Python that has optuna 5; OMP_NUM_THREADS=1)

Both keep their studies in SQLite. Optuna reads its whole study for every trial, so it is measured where that is short. Exit status 1
where a goal is missed: the last trials cost more than 1.5 times what the first ones do (samplers that look at no history), more than 1 ms
(tpe with one objective), or the trials take more than 100 MB.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time

import optuna

CHOICES = [2, 3, 4, 6, 8]
SAMPLERS = {
    "random": optuna.samplers.RandomSampler,
    "qmc": optuna.samplers.QMCSampler,
    "tpe": lambda seed: optuna.samplers.TPESampler(seed=seed, multivariate=True),
    "nsgaii": optuna.samplers.NSGAIISampler,
}


def optuna_ms(sampler, trials):
    """Milliseconds of processor time of each of the last tenth of the trials."""

    def evaluate(trial):
        widths = [trial.suggest_categorical(f"layer{i}/config/width", CHOICES) for i in range(12)]
        return sum(4.0**-width for width in widths)

    with tempfile.TemporaryDirectory() as folder:
        study = optuna.create_study(storage=f"sqlite:///{folder}/study.db", sampler=SAMPLERS[sampler](seed=0))
        study.optimize(evaluate, n_trials=trials - trials // 10)
        begin = time.process_time()
        study.optimize(evaluate, n_trials=trials // 10)
        return (time.process_time() - begin) * 1e3 / (trials // 10)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--trials", type=int, default=20000)
    parser.add_argument("--optuna-trials", type=int, default=300)
    arguments = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    missed = False
    print(f"{'sampler':8} {'first ms':>8} {'last ms':>8} {'trials MB':>9} {'Optuna ms':>9} {'ratio':>6}")
    for sampler in SAMPLERS:
        command = [arguments.program, f"sampler={sampler}", f"trials={arguments.trials}"]
        report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        first, last = report["ms"][0], report["ms"][-1]
        held = report["mb_trials"] - report["mb_before"]
        theirs = optuna_ms(sampler, arguments.optuna_trials)
        print(f"{sampler:8} {first:8.2f} {last:8.2f} {held:9.0f} {theirs:9.2f} {theirs / last:5.1f}x")
        missed |= held > 100
        missed |= last > {"random": 1.5 * first, "qmc": 1.5 * first, "tpe": 1.0}.get(sampler, last)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
