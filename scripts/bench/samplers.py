#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares quality and overhead of mase's samplers with Optuna's: 30 seeds per problem, a Mann-Whitney test at 5 %.

Usage: samplers.py BENCH_SAMPLERS [--cache FILE] [--problems a,b,...] [--batches 1,4,8,16]
(run with a Python that has optuna 5 and scipy; OMP_NUM_THREADS=1)

Optuna's results are kept in FILE and run once only, seed by seed, so that an interrupted run goes on where it
stopped; the times of the overhead table are always measured in this run. With several batch sizes each is compared
with Optuna, which suggests one trial after the other.
"""

import argparse
import json
import statistics
import subprocess
import time
from pathlib import Path

import optuna
from sampler_problems import PROBLEMS, hypervolume
from scipy.stats import mannwhitneyu

SEEDS = 30
SAMPLERS = {"tpe": optuna.samplers.TPESampler, "nsgaii": optuna.samplers.NSGAIISampler}


def sampler_of(problem):
    return "tpe" if problem.objectives == 1 else "nsgaii"


def suggest(trial, ranges):
    return [
        trial.suggest_categorical(f"p{j:02d}", list(range(r)))
        if isinstance(r, int)
        else trial.suggest_float(f"p{j:02d}", *r)
        for j, r in enumerate(ranges)
    ]


def optuna_run(sampler_name, problem, seed):
    """(result, milliseconds of processor time per trial) of one run of Optuna."""
    study = optuna.create_study(sampler=SAMPLERS[sampler_name](seed=seed), directions=["minimize"] * problem.objectives)
    begin = time.process_time()
    study.optimize(lambda trial: problem.function(suggest(trial, problem.ranges)), n_trials=problem.trials)
    milliseconds = (time.process_time() - begin) * 1e3 / problem.trials
    values = [trial.values for trial in study.trials]
    if problem.objectives > 1:
        return hypervolume([tuple(v) for v in values]), milliseconds
    return min(v[0] for v in values) - problem.optimum, milliseconds


def optuna_results(cache_file, name):
    """The result of every seed, read from the cache or run and added to it."""
    cache = json.loads(cache_file.read_text()) if cache_file and cache_file.exists() else {}
    sampler = sampler_of(PROBLEMS[name])
    results = cache.setdefault(f"{sampler}/{name}", {"results": []})["results"]
    for seed in range(len(results), SEEDS):
        results.append(optuna_run(sampler, PROBLEMS[name], seed)[0])
        if cache_file:
            cache_file.write_text(json.dumps(cache))
    return results[:SEEDS]


def mase_report(program, **settings):
    command = [program] + [f"{key}={value}" for key, value in settings.items()]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def check_problems(program):
    """Both programs must give the same values at three points of every problem."""
    theirs = json.loads(subprocess.run([program, "--check"], check=True, capture_output=True, text=True).stdout)
    assert theirs.keys() == PROBLEMS.keys(), "the programs know different problems"
    for name, problem in PROBLEMS.items():
        for k, row in enumerate(theirs[name]):
            value = problem.function(problem.point(k))
            ours = value if isinstance(value, tuple) else (value,)
            assert all(abs(a - b) <= 1e-12 * max(1, abs(a)) for a, b in zip(ours, row, strict=True)), name


def spread(results):
    low, middle, high = statistics.quantiles(results, n=4)
    return f"{middle:9.4f} [{low:.4f}, {high:.4f}]"


def verdict(ours, theirs, more_is_better):
    """(p, words) of the two-sided test."""
    p = mannwhitneyu(ours, theirs).pvalue
    better = (statistics.median(ours) > statistics.median(theirs)) == more_is_better
    return p, "no difference" if p >= 0.05 else "better" if better else "WORSE"


def compare(program, cache, names, batches):
    print(
        f"{'problem':12} {'batch':>5}  {'mase median [quartiles]':30} {'Optuna median [quartiles]':30} {'p':>6}  verdict"
    )
    for name in names:
        problem = PROBLEMS[name]
        theirs = optuna_results(cache, name)
        for batch in batches:
            ours = mase_report(program, sampler=sampler_of(problem), problem=name, seeds=SEEDS, batch=batch)["results"]
            p, words = verdict(ours, theirs, problem.objectives > 1)
            print(f"{name:12} {batch:5}  {spread(ours):30} {spread(theirs):30} {p:6.3f}  {words}", flush=True)


def overhead(program, runs=3):
    print("\nprocessor time per trial, 50 parameters of 5 choices, 300 trials (median of 3 runs, alternating)")
    ours, theirs = [], []
    for seed in range(runs):
        ours += mase_report(program, problem="choices50", seeds=1)["ms"]
        theirs.append(optuna_run("tpe", PROBLEMS["choices50"], seed)[1])
    a, b = statistics.median(ours), statistics.median(theirs)
    print(f"mase {a:.3f} ms, Optuna {b:.2f} ms, ratio {b / a:.0f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--problems", default="branin,hartmann6,rosenbrock5,ackley10,bits24,zdt1,zdt2,zdt3")
    parser.add_argument("--batches", default="1")
    arguments = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    print(
        f"Optuna {optuna.__version__}, {SEEDS} seeds; regret (less is better), for zdt the hypervolume (more is better)"
    )
    check_problems(arguments.program)
    compare(arguments.program, arguments.cache, arguments.problems.split(","), arguments.batches.split(","))
    overhead(arguments.program)


if __name__ == "__main__":
    main()
