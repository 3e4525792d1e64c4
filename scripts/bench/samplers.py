#!/usr/bin/env python3
"""Quality and overhead of the samplers of mase next to Optuna's: 30 seeds per problem, a Mann-Whitney test at 5 %.

Usage: samplers.py BENCH_SAMPLERS [--python PYTHON] [--cache FILE] [--problems a,b] [--sampler tpe] [--batch B]

PYTHON is an interpreter with optuna and scipy (default: this one); it runs Optuna's side, one process. Optuna's
results are kept in FILE and run once only, seed by seed, so that an interrupted run goes on where it stopped.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

from sampler_problems import PROBLEMS, hypervolume

SEEDS = 30
TPE_PROBLEMS = ["branin", "hartmann6", "rosenbrock5", "ackley10", "bits24"]
NSGA_PROBLEMS = ["zdt1", "zdt2", "zdt3"]


def suggest(trial, ranges):
    return [trial.suggest_categorical(f"p{j:02d}", list(range(r))) if isinstance(r, int)
            else trial.suggest_float(f"p{j:02d}", *r) for j, r in enumerate(ranges)]


def optuna_run(sampler_name, problem, seed):
    """(result, milliseconds per trial) of one run of Optuna."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    samplers = {"tpe": optuna.samplers.TPESampler, "nsgaii": optuna.samplers.NSGAIISampler,
                "random": optuna.samplers.RandomSampler}
    study = optuna.create_study(sampler=samplers[sampler_name](seed=seed),
                                directions=["minimize"] * problem.objectives)
    begin = time.perf_counter()
    study.optimize(lambda trial: problem.function(suggest(trial, problem.ranges)), n_trials=problem.trials)
    milliseconds = (time.perf_counter() - begin) * 1e3 / problem.trials
    values = [trial.values for trial in study.trials]
    if problem.objectives > 1:
        return hypervolume([tuple(v) for v in values]), milliseconds
    return min(v[0] for v in values) - problem.optimum, milliseconds


def optuna_results(cache_file, sampler, name, seeds):
    """Results of the seeds, read from the cache or run and added to it."""
    cache = json.loads(cache_file.read_text()) if cache_file and cache_file.exists() else {}
    entry = cache.setdefault(f"{sampler}/{name}", {"results": [], "ms": []})
    for seed in range(len(entry["results"]), seeds):
        result, milliseconds = optuna_run(sampler, PROBLEMS[name], seed)
        entry["results"].append(result)
        entry["ms"].append(milliseconds)
        if cache_file:
            cache_file.write_text(json.dumps(cache))
    return entry["results"][:seeds], statistics.median(entry["ms"][:seeds])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--problems", default="")
    parser.add_argument("--sampler", default="tpe")
    arguments = parser.parse_args()
    for name in arguments.problems.split(","):
        results, milliseconds = optuna_results(arguments.cache, arguments.sampler, name, SEEDS)
        print(name, statistics.median(results), milliseconds, flush=True)


if __name__ == "__main__":
    main()
