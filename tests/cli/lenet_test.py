#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The shipped lenet experiments reach their figures on the whole of MNIST: float, 8-bit, 4-bit weights after quantized
training, and 3-bit weights without training, rounded to nearest and with error compensation. The last two differ by
luck on one trained model (0.02 to 2.98 points in eleven trainings, 0.93 in the mean), so they are compared over five.

usage: lenet_test.py --mase BINARY --source ROOT
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mase", type=Path, required=True)
    parser.add_argument("--source", type=Path, required=True)
    options = parser.parse_args()
    configs = options.source.resolve() / "configs"

    with tempfile.TemporaryDirectory() as folder:

        def mase(*words):
            words = [options.mase.resolve(), *words, "--json"]
            environment = {**os.environ, "OMP_NUM_THREADS": "1"}
            return json.loads(
                subprocess.run(
                    words,
                    cwd=folder,
                    env=environment,
                    check=True,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    text=True,
                ).stdout
            )

        def accuracy(checkpoint):
            return (
                100 * mase("test", checkpoint, "mnist", "--split", "test", "--batch-size", "500")["scores"]["accuracy"]
            )

        def train(seed):
            return mase(
                "train",
                "--config",
                configs / "lenet_mnist_train.toml",
                "--seed",
                str(seed),
                "--project-dir",
                f"seed_{seed}",
            )["best_checkpoint"]

        def transform(config, checkpoint):
            return mase("transform", "--overwrite", "--config", config, "--load", checkpoint)["checkpoint"]

        trained = train(0)
        eight = transform(configs / "lenet_mnist_integer8.toml", trained)
        four = transform(configs / "lenet_mnist_weight4.toml", trained)
        tuned = mase("train", four, "--config", configs / "lenet_mnist_weight4_train.toml")["best_checkpoint"]
        compensating = configs / "lenet_mnist_weight3_gptq.toml"
        nearest = Path(folder) / "nearest.toml"
        nearest.write_text(compensating.read_text().replace("[passes.gptq]\n", "").replace("-w3", "-w3-nearest"))
        names = ("float", "8-bit", "4-bit weights", "4-bit weights, trained")
        results = dict(zip(names, map(accuracy, (trained, eight, four, tuned))))
        lost = {"nearest": [], "gptq": []}
        others = list(map(train, range(1, 5)))
        for checkpoint, whole in zip((trained, *others), (results["float"], *map(accuracy, others))):
            lost["nearest"].append(whole - accuracy(transform(nearest, checkpoint)))
            lost["gptq"].append(whole - accuracy(transform(compensating, checkpoint)))

    for name, value in results.items():
        print(f"{name}: {value:.2f} %")
    for name, points in lost.items():
        each = ", ".join(f"{value:.2f}" for value in points)
        print(
            f"3-bit weights, {name}: {statistics.mean(points):.2f} points lost in the mean of five trainings ({each})"
        )
    goals = {
        "float at least 98.8 %": results["float"] >= 98.8,
        "8-bit at most 0.2 points lost": results["float"] - results["8-bit"] <= 0.2 + 1e-9,
        "4-bit weights, trained, at most 0.5 points lost": results["float"] - results["4-bit weights, trained"]
        <= 0.5 + 1e-9,
        "3-bit weights: error compensation loses at most half as much as nearest": sum(lost["gptq"])
        <= sum(lost["nearest"]) / 2,
        "3-bit weights: error compensation at least 0.3 points better than nearest": statistics.mean(lost["nearest"])
        - statistics.mean(lost["gptq"])
        >= 0.3,
    }
    for goal, met in goals.items():
        print(("met     " if met else "MISSED  ") + goal)
    return 0 if all(goals.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
