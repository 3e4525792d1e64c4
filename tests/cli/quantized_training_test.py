#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The shipped recipe of jsc-s with 4-bit integers reaches its figure over four seeds; lenet_test.py has those of lenet.

usage: quantized_training_test.py --mase BINARY --source ROOT
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path


class Experiment:
    def __init__(self, mase, source, folder):
        self.mase, self.configs, self.folder = mase, source / "configs", Path(folder)

    def run(self, *words):
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        result = subprocess.run(
            [self.mase, *map(str, words), "--json"],
            cwd=self.folder,
            env=environment,
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        return json.loads(result.stdout)

    def train(self, *words):
        return self.run("train", *words)["best_checkpoint"]

    def accuracy(self, checkpoint, dataset, *words):
        """In percent of the test rows."""
        return 100 * self.run("test", checkpoint, dataset, "--split", "test", *words)["scores"]["accuracy"]

    def quantized(self, recipe, dataset, trained, *words):
        """The accuracy after quantizing and training as the recipe says."""
        config = self.configs / "quantized_training" / recipe
        checkpoint = self.run("transform", "--overwrite", "--config", config, "--load", trained, *words)["checkpoint"]
        return self.accuracy(self.train(checkpoint, "--overwrite", "--config", config, *words), dataset)


def jsc_s(experiment):
    """Means over seeds: a point is one and a half of the 150 test rows."""
    losses, floats = [], []
    for seed in range(1, 5):
        project = ("--seed", seed, "--project", f"jsc-{seed}")
        trained = experiment.train("jsc-s", "jsc", "--config", experiment.configs / "jsc_s_train.toml", *project)
        floats.append(experiment.accuracy(trained, "jsc"))
        losses.append(floats[-1] - experiment.quantized("jsc_s_integer4.toml", "jsc", trained, *project))
    return {"float": sum(floats) / 4, "4 bits lose": sum(losses) / 4}


def show(results, goals):
    """Prints percentages and goals; 1 when one is missed."""
    for name, value in results.items():
        print(f"{name}: {value:.2f} %")
    for goal, met in goals.items():
        print(("met     " if met else "MISSED  ") + goal)
    return 0 if all(goals.values()) else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mase", type=Path, required=True)
    parser.add_argument("--source", type=Path, required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        results = jsc_s(Experiment(options.mase.resolve(), options.source.resolve(), folder))
    return show(
        results, {"4-bit integers: at most 1 point lost in the mean of four seeds": results["4 bits lose"] <= 1 + 1e-9}
    )


if __name__ == "__main__":
    sys.exit(main())
