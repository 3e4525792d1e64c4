#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Folders that transformers writes on the spot, with random weights: mase computes what transformers computes, and its
nodes and tensors are those of the same model's trace.

usage: folders_test.py --mase BINARY --source ROOT --python PYTHON [CASE ...]

The interpreter is $MASE_PYTHON, the one that the build was configured with, or the .venv of the source folder: the first
that has torch and transformers, which .venv/zoo may have. Without one the test is skipped (exit status 77).
"""

import argparse
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

SKIPPED = 77
# Sums are taken in another order where a machine has other vector units; results are about 1.
ROUNDING = 1e-5


def needed(python, environment):
    check = "import sys; sys.modules['torchvision'] = None; import torch, transformers; transformers.BertModel"
    return subprocess.run([python, "-c", check], env=environment, capture_output=True, check=False).returncode == 0


def run_inside(arguments):
    """Runs this script again with a Python that has transformers."""
    path = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH", ""), str(arguments.source / ".venv/zoo")]))
    environment = dict(os.environ, PYTHONPATH=path, MASE_HAS_TRANSFORMERS="1", OMP_NUM_THREADS="1")
    for python in (os.environ.get("MASE_PYTHON", ""), arguments.python, str(arguments.source / ".venv/bin/python")):
        if python and shutil.which(python) and needed(python, environment):
            return subprocess.run([python, "-B", *sys.argv], env=environment, check=False).returncode
    print("skipped: no Python with torch and transformers; name one in MASE_PYTHON")
    return SKIPPED


BERT = {
    "vocab_size": 100,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 40,
}
# name: class of the model, class of its settings, settings
CASES = {
    "bert": ("BertModel", "BertConfig", BERT),
    "bert-classes": ("BertForSequenceClassification", "BertConfig", {**BERT, "num_labels": 3, "hidden_act": "relu"}),
    "bert-gelu-new": ("BertForSequenceClassification", "BertConfig", {**BERT, "hidden_act": "gelu_new"}),
    "roberta": ("RobertaModel", "RobertaConfig", BERT),
    "roberta-classes": ("RobertaForSequenceClassification", "RobertaConfig", {**BERT, "layer_norm_eps": 1e-3}),
}


class Case:
    def __init__(self, name, mase, folder):
        import torch
        import transformers

        self.name, self.mase, self.folder = name, mase, folder
        model_class, config_class, settings = CASES[name]
        torch.manual_seed(0)
        config = getattr(transformers, config_class)(**settings, attn_implementation="eager", use_cache=False)
        self.model = getattr(transformers, model_class)(config).eval()
        with torch.no_grad():
            for parameter in self.model.parameters():  # larger than the usual ones, so that faults show
                parameter.mul_(5).add_(torch.randn_like(parameter) * 0.05)
        self.model.save_pretrained(folder)

    def inputs(self, rows, tokens):
        """Some tokens of the second row are padding, and so are some of the padding's own number."""
        import torch

        if self.model.main_input_name == "pixel_values":
            config = self.model.config
            side = getattr(config, "image_size", 32)
            return {"pixel_values": torch.randn(rows, config.num_channels, side, side)}
        ids = torch.randint(3, self.model.config.vocab_size, (rows, tokens))
        mask = torch.ones_like(ids)
        mask[1, tokens - 2 :] = 0
        if self.model.config.pad_token_id is not None:
            ids[1, tokens - 2 :] = self.model.config.pad_token_id
        return {"input_ids": ids, "attention_mask": mask}

    def written(self, inputs):
        import numpy

        words = []
        for key, value in inputs.items():
            numpy.save(self.folder / f"{key}.npy", value.numpy())
            words += ["--input", f"{key}={self.folder / key}.npy"]
        return words

    def run(self, *words):
        result = subprocess.run([self.mase, *map(str, words)], capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise RuntimeError(f"{self.name}: mase {' '.join(map(str, words))}\n{result.stderr}")
        if "warning" in result.stderr and str(self.folder) in result.stderr and "config.json" in result.stderr:
            raise RuntimeError(f"{self.name}: {result.stderr}")
        return result.stdout

    def difference(self):
        """The largest one of all results, for other sizes than the graph is made for."""
        import numpy
        import torch

        inputs = self.inputs(3, 9)
        with torch.no_grad():
            results = [value for value in self.model(**inputs).to_tuple() if isinstance(value, torch.Tensor)]
        output = self.folder / "y.npy"
        self.run("run", self.folder, *self.written(inputs), "--output", output)
        files = [output] if len(results) == 1 else [self.folder / f"y_{i}.npy" for i in range(len(results))]
        return max(float(numpy.abs(numpy.load(f) - r.numpy()).max()) for f, r in zip(files, results, strict=True))

    def trace(self, inputs):
        import torch

        kind = type(self.model)
        names = list(inputs)

        def texts(self, input_ids, attention_mask):
            return kind.forward(self, input_ids=input_ids, attention_mask=attention_mask).to_tuple()

        def images(self, pixel_values):
            return kind.forward(self, pixel_values=pixel_values).to_tuple()

        forward = images if names == ["pixel_values"] else texts
        self.model.__class__ = type(kind.__name__, (kind,), {"forward": forward})
        path = self.folder / "trace.pt"
        with torch.no_grad():
            torch.jit.trace(self.model, tuple(inputs.values()), check_trace=False).save(path)
        self.model.__class__ = kind
        return path

    def graph_differences(self):
        inputs = self.inputs(2, 7)
        words = self.written(inputs)
        traced = self.run("show", self.trace(inputs), *words)
        built = self.run("show", self.folder, *words)
        return [
            line
            for part in (nodes, tensors, modules)
            for line in difflib.unified_diff(part(traced), part(built), "trace", "folder", "", "", 0, "")
        ]


def without_training(text):
    """A trace has the values of eval mode; a folder can be trained."""
    text = re.sub(r"(train|training)=(false|\$training)", r"\1", text)
    return re.sub(r"(aten::dropout\(input=%\w+, )p=[\d.e-]+", r"\1p", text)


def nodes(text):
    """Computing nodes in order. A trace reads tensors in another order, and has a tuple of one result."""
    lines = [without_training(line) for line in text.splitlines() if line.startswith("  %")]
    return [line for line in lines if " get_attr " not in line and " = output " not in line]


def tensors(text):
    return sorted(line for line in text.splitlines() if line.startswith("  tensor "))


def modules(text):
    lines = [line for line in text.splitlines() if line.startswith(("  module ", "  container "))]
    return sorted(without_training(line) for line in lines if not line.startswith('  container "" '))


def check(name, mase):
    with tempfile.TemporaryDirectory() as folder:
        case = Case(name, mase, Path(folder))
        difference = case.difference()
        lines = case.graph_differences()
    good = difference <= ROUNDING and not lines
    print(f"{name}: largest difference {difference:.2e}, {'the graph of the trace' if not lines else 'another graph'}")
    print("".join(f"  {line}\n" for line in lines[:20]), end="", flush=True)
    return good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mase", required=True)
    parser.add_argument("--source", required=True, type=Path)
    parser.add_argument("--python", default="", help="an interpreter with torch and transformers")
    parser.add_argument("cases", nargs="*")
    arguments = parser.parse_args()
    if not os.environ.get("MASE_HAS_TRANSFORMERS"):
        return run_inside(arguments)
    sys.modules["torchvision"] = None  # these models need none, and it must fit torch
    os.environ["TRANSFORMERS_VERBOSITY"] = "error"
    os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
    warnings.simplefilter("ignore")  # of traces, about values that become constants
    results = [check(name, arguments.mase) for name in arguments.cases or CASES]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
