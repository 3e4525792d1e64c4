#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The shipped files of the transformers reach their figures on test rows: trained, and as the 8-bit integers that their
hardware computes.

usage: transformers_test.py --mase BINARY --source ROOT [MODEL ...]
"""

import argparse
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from quantized_training_test import Experiment


@dataclass
class Recipe:
    model: str
    data: str
    training: str  # in configs
    hardware: str  # in configs/hardware
    figure: str  # of the scores
    bounds: tuple  # of the figure of the float model, and of the integers' less it

    def scores(self, experiment, checkpoint, level):
        found = experiment.run("test", checkpoint, self.data, "--split", "test", "--level", level)["scores"]
        return found[self.figure]

    def run(self, experiment):
        trained = experiment.train("--config", experiment.configs / self.training)
        config = experiment.configs / "hardware" / self.hardware
        words = (self.model, self.data, "--config", config, "--load", trained, "--project", f"{self.model}-8")
        floating = self.scores(experiment, trained, "float")
        integer = self.scores(experiment, experiment.run("transform", *words)["checkpoint"], "integer")
        (low, high), (least, most) = self.bounds
        good = low <= floating <= high and least <= integer - floating <= most
        print(f"{self.model}: {self.figure} {floating:.4f}, integers {integer:.4f}{'' if good else ' (missed)'}")
        return good


RECIPES = (
    # A share of 70 % of 150 rows has a standard error of 3.7 points.
    Recipe(
        "transformer-jets",
        "jsc",
        "transformer_jets_train.toml",
        "transformer_jets.toml",
        "accuracy",
        ((0.66, 1), (-0.03, 1)),
    ),
    Recipe(
        "bert-tiny", "toy-tokens", "bert_tiny_toy_train.toml", "bert_tiny_toy.toml", "accuracy", ((0.99, 1), (-0.01, 1))
    ),
    Recipe(
        "llama-tiny", "text", "llama_tiny_text_train.toml", "llama_tiny_text.toml", "perplexity", ((1, 4.4), (-1, 0.13))
    ),
)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mase", type=Path, required=True)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("models", nargs="*", choices=[[], *(recipe.model for recipe in RECIPES)])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        experiment = Experiment(options.mase.resolve(), options.source.resolve(), folder)
        wanted = [recipe for recipe in RECIPES if not options.models or recipe.model in options.models]
        return 0 if all([recipe.run(experiment) for recipe in wanted]) else 1


if __name__ == "__main__":
    sys.exit(main())
