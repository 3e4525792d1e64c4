#!/usr/bin/env python3
"""The shipped lenet experiments reach their figures on the whole of MNIST: float, 8-bit, 4-bit weights after quantized
training, and 3-bit weights without training, rounded to nearest and with error compensation.

usage: lenet_test.py --mase BINARY --source ROOT
"""

import argparse
import json
import os
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
            return json.loads(subprocess.run(words, cwd=folder, env=environment, check=True, stdin=subprocess.DEVNULL,
                                             stdout=subprocess.PIPE, text=True).stdout)

        def accuracy(checkpoint):
            return 100 * mase("test", checkpoint, "mnist", "--split", "test", "--batch-size", "500")["scores"]["accuracy"]

        trained = mase("train", "--config", configs / "lenet_mnist_train.toml")["best_checkpoint"]
        eight = mase("transform", "--config", configs / "lenet_mnist_integer8.toml", "--load", trained)["checkpoint"]
        four = mase("transform", "--config", configs / "lenet_mnist_weight4.toml", "--load", trained)["checkpoint"]
        tuned = mase("train", four, "--config", configs / "lenet_mnist_weight4_train.toml")["best_checkpoint"]
        compensating = configs / "lenet_mnist_weight3_gptq.toml"
        nearest = Path(folder) / "nearest.toml"
        nearest.write_text(compensating.read_text().replace("[passes.gptq]\n", "").replace("-w3", "-w3-nearest"))
        three = [mase("transform", "--config", config, "--load", trained)["checkpoint"] for config in (nearest, compensating)]
        names = ("float", "8-bit", "4-bit weights", "4-bit weights, trained", "3-bit weights, nearest", "3-bit weights, gptq")
        results = dict(zip(names, map(accuracy, (trained, eight, four, tuned, *three))))

    for name, value in results.items():
        print(f"{name}: {value:.2f} %")
    goals = {
        "float at least 98.8 %": results["float"] >= 98.8,
        "8-bit at most 0.2 points lost": results["float"] - results["8-bit"] <= 0.2 + 1e-9,
        "4-bit weights, trained, at most 0.5 points lost": results["float"] - results["4-bit weights, trained"] <= 0.5 + 1e-9,
        "3-bit weights: error compensation at least 0.5 points better than nearest":
            results["3-bit weights, gptq"] - results["3-bit weights, nearest"] >= 0.5,
    }
    for goal, met in goals.items():
        print(("met     " if met else "MISSED  ") + goal)
    return 0 if all(goals.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
