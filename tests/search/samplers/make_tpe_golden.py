#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tpe_golden.json: what the real Optuna 5.0.0 makes of stored histories. Run it with a Python that has optuna.

Usage: make_tpe_golden.py > tpe_golden.json

Each case has a space, a history and options; then, from Optuna: the numbers of the good and bad trials, and for both
estimators the kernels' weights, the centres and widths of the numeric dimensions, and log l and log g at points.
Optuna sorts equal observations in no certain order (numpy's default sort); here numpy sorts stably.
"""

import functools
import json
import random
import warnings

import numpy
import optuna
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution, distribution_to_json
from optuna.samplers import TPESampler
from optuna.samplers._tpe.sampler import _split_trials, default_gamma, default_gamma_multiobjective
from optuna.trial import TrialState, create_trial

MIXED = {
    "a": FloatDistribution(-5.0, 10.0),
    "b": FloatDistribution(1e-5, 1e-1, log=True),
    "c": CategoricalDistribution(["x", "y", "z"]),
}
STEPPED = {
    "i": IntDistribution(1, 64, log=True),
    "n": IntDistribution(2, 8, step=2),
    "s": FloatDistribution(0.0, 1.0, step=0.25),
    "c": CategoricalDistribution([2, 3, 4, 6, 8]),
}
WIDE = {"w": IntDistribution(0, 100000)}


def draw(rng, distribution):
    """A value in Optuna's external representation."""
    if isinstance(distribution, CategoricalDistribution):
        return rng.choice(distribution.choices)
    if isinstance(distribution, IntDistribution):
        count = (distribution.high - distribution.low) // distribution.step
        return distribution.low + rng.randint(0, count) * distribution.step
    if distribution.step is not None:
        return (
            distribution.low
            + rng.randint(0, round((distribution.high - distribution.low) / distribution.step)) * distribution.step
        )
    if distribution.log:
        return min(distribution.low * (distribution.high / distribution.low) ** rng.random(), distribution.high)
    return rng.uniform(distribution.low, distribution.high)


def make_trial(rng, number, space, state, objectives):
    """A trial with random parameters and results; values have few digits, so that some are equal."""
    trial = create_trial(
        state=state,
        params={name: draw(rng, d) for name, d in space.items()},
        distributions=space,
        values=[round(rng.uniform(-1, 1), 1 + objectives) for _ in range(objectives)]
        if state == TrialState.COMPLETE
        else None,
        intermediate_values={step: round(rng.uniform(-1, 1), 2) for step in range(rng.randint(0, 3))}
        if state == TrialState.PRUNED
        else None,
    )
    trial.number = number
    return trial


def split_case(name, rng, states, directions, violated=0.0):
    """Good and bad numbers of a history without parameters that matter."""
    study = optuna.create_study(directions=directions)
    trials = [make_trial(rng, number, {}, state, len(directions)) for number, state in enumerate(states)]
    for trial in trials:
        if trial.state.is_finished() and rng.random() < violated:
            trial.set_constraint("c", rng.choice([0.5, 1.0, 2.0]))
    gamma = default_gamma if len(directions) == 1 else default_gamma_multiobjective
    finished = sum(state != TrialState.RUNNING for state in states)
    below, above = _split_trials(study, trials, gamma(finished))
    return {
        "name": name,
        "directions": directions,
        "trials": [trial_tree(t) for t in trials],
        "below": [t.number for t in below],
        "above": [t.number for t in above],
    }


def trial_tree(trial):
    return {
        "state": trial.state.name,
        "values": trial.values or [],
        "violation": sum(trial.constraints.values()),
        "params": {k: trial.distributions[k].to_internal_repr(v) for k, v in trial.params.items()},
        "intermediate": [[k, v] for k, v in trial.intermediate_values.items()],
    }


def kernels(estimator):
    """Centres and widths by dimension; null for categorical ones."""
    return [
        {"centre": d.mu.tolist(), "width": d.sigma.tolist()} if hasattr(d, "mu") else None
        for d in estimator._mixture_distribution.distributions
    ]


def estimator_case(name, rng, space, count, **options):
    """Both estimators of a history of complete trials, and their log densities at twelve points."""
    study = optuna.create_study()
    trials = [make_trial(rng, number, space, TrialState.COMPLETE, 1) for number in range(count)]
    below, above = _split_trials(study, trials, default_gamma(count))
    sampler = TPESampler(seed=0, **options)
    good = sampler._build_parzen_estimator(study, space, below, handle_below=True)
    bad = sampler._build_parzen_estimator(study, space, above, handle_below=False)
    points = good.sample(sampler._rng.rng, 12)
    return {
        "name": name,
        "space": {k: json.loads(distribution_to_json(d)) for k, d in space.items()},
        "options": options,
        "trials": [trial_tree(t) for t in trials],
        "points": {k: v.tolist() for k, v in points.items()},
        "good": estimator_tree(good, points),
        "bad": estimator_tree(bad, points),
    }


def estimator_tree(estimator, points):
    return {
        "weights": estimator._mixture_distribution.weights.tolist(),
        "kernels": kernels(estimator),
        "log_density": estimator.log_pdf(points).tolist(),
    }


def main():
    warnings.simplefilter("ignore")
    numpy.argsort = functools.partial(numpy.argsort, kind="stable")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    rng = random.Random(5)
    complete, pruned, running = TrialState.COMPLETE, TrialState.PRUNED, TrialState.RUNNING
    states = [rng.choice([complete, complete, pruned, running]) for _ in range(60)]
    splits = [
        split_case("complete", rng, [complete] * 43, ["minimize"]),
        split_case("maximised", rng, [complete] * 43, ["maximize"]),
        split_case("at most 25 good ones", rng, [complete] * 270, ["minimize"]),
        split_case("pruned and running", rng, [pruned] * 30 + [running] * 4 + [complete] * 2, ["minimize"]),
        split_case("pruned, maximised", rng, [pruned] * 30 + [complete], ["maximize"]),
        split_case("infeasible", rng, states, ["minimize"], 0.97),
        split_case("two objectives", rng, [complete] * 70, ["minimize", "maximize"]),
        split_case("two objectives, many", rng, [complete] * 150, ["minimize", "minimize"]),
        split_case("three objectives", rng, [complete] * 60, ["minimize", "maximize", "minimize"]),
    ]
    estimators = [
        estimator_case("mixed", rng, MIXED, 12),
        estimator_case("mixed, weights fall", rng, MIXED, 80),
        estimator_case("mixed, options", rng, MIXED, 30, prior_weight=0.3, consider_endpoints=True),
        estimator_case("stepped", rng, STEPPED, 11),
        estimator_case("stepped, weights fall", rng, STEPPED, 90),
        estimator_case("wide integer", rng, WIDE, 120),
        estimator_case("one observation", rng, MIXED | STEPPED, 2),
    ]
    print(json.dumps({"optuna": optuna.__version__, "splits": splits, "estimators": estimators}))


if __name__ == "__main__":
    main()
