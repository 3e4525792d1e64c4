# SPDX-License-Identifier: Apache-2.0
"""What scripts/zoo --onnx runs: every network is exported by both of PyTorch's exporters, imported, and gets a row.

imports    mase runs the file
outputs    the results of `mase run` are those of stock PyTorch to 1e-5 of the largest one
names      how many of the layers that the TorchScript import has are layers of the same name here, and why others are
           not (layer_names.py has the reasons)
"""

import argparse
import json
import logging
import subprocess
import sys
import warnings
from collections import Counter
from pathlib import Path

import numpy
import onnx
import torch
from layer_names import layers_of, reasons_of, told_paths
from networks import NETWORKS
from torch import Tensor, nn
from zoo import Refused, made, mase, script_of, table, tensors_of

EXPORTERS = ("trace", "dynamo")
CLOSE = 1e-5


# By default both exporters fold batch norms into convolutions and leave dropouts out.
KEEPS_LAYERS = {
    "trace": {"training": torch.onnx.TrainingMode.PRESERVE, "do_constant_folding": False},
    "dynamo": {"optimize": False},
}


def export(model: nn.Module, inputs: tuple[Tensor, ...], file: Path, exporter: str, keeps_layers: bool) -> None:
    options = KEEPS_LAYERS[exporter] if keeps_layers else {}
    torch.onnx.export(model, inputs, file, dynamo=exporter == "dynamo", verbose=False, **options)


def distance(left: list[numpy.ndarray], right: list[Tensor]) -> str:
    """yes, or by how much they differ, as a part of the largest result."""
    if len(left) != len(right):
        return f"{len(left)} of {len(right)} results"
    worst = 0.0
    for ours, theirs in zip(left, (tensor.numpy() for tensor in right)):
        if ours.shape != theirs.shape:
            return "shape"
        scale = max(float(numpy.abs(theirs).max(initial=0)), 1e-30)
        worst = max(worst, float(numpy.abs(ours.astype("f8") - theirs).max(initial=0)) / scale)
    return "yes" if worst <= CLOSE else f"{worst:.1e}"


class Trial:
    def __init__(self, program: Path, folder: Path, name: str, exporter: str, keeps_layers: bool) -> None:
        self.program, self.folder, self.keeps_layers = program, folder / f"{name}.{exporter}", keeps_layers
        self.network, self.exporter = NETWORKS[name], exporter
        self.row = {"network": name, "exporter": exporter, "imports": "no", "outputs": "", "names": "", "why": ""}

    def run(self) -> dict[str, str]:
        model, self.inputs = made(self.network, self.folder)
        file = self.folder / "model.onnx"
        with torch.no_grad():
            expected = tensors_of(model(*self.network.inputs))
            export(model, self.network.inputs, file, self.exporter, self.keeps_layers)
        try:
            for old in self.folder.glob("y*.npy"):
                old.unlink()
            said = mase(self.program, "run", file, "--output", self.folder / "y.npy", *self.inputs, "--json")
            ours = [numpy.load(one["file"]) for one in json.loads(said)["outputs"]]
            self.row["imports"] = "yes"
            self.row["outputs"] = distance(ours, expected)
            self.row["names"] = self.names(model, file)
        except (Refused, subprocess.TimeoutExpired) as problem:
            self.row["why"] = str(problem)[:400]
        return self.row

    def names(self, model: nn.Module, file: Path) -> str:
        traced = self.folder / "model.pt"
        try:
            with torch.no_grad():
                script_of(model, "trace", self.network.inputs).save(str(traced))
            wanted, _ = layers_of(self.program, traced, self.inputs)
        except Exception:  # not every network can be traced
            return "-"
        found, ops = layers_of(self.program, file, self.inputs)
        reasons = reasons_of(wanted, found, ops, told_paths(onnx.load(file)))
        if not reasons:
            return "yes"
        why = (f"{count} {reason}" for reason, count in sorted(Counter(reasons.values()).items()))
        return f"{len(wanted) - len(reasons)} of {len(wanted)}: {', '.join(why)}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("network", nargs="*", help="only those whose name begins so")
    parser.add_argument("--keep-layers", action="store_true", help="have the exporters keep batch norms")
    arguments = parser.parse_intermixed_args()
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)
    chosen = [n for n in NETWORKS if not arguments.network or n.startswith(tuple(arguments.network))]
    program, folder = arguments.program.resolve(), arguments.folder.resolve()
    rows = []
    for name in chosen:
        for exporter in EXPORTERS:
            try:
                rows.append(Trial(program, folder, name, exporter, arguments.keep_layers).run())
            except Exception as problem:  # what stock PyTorch itself cannot export is not a row
                print(f"{name}.{exporter}: not exported: {str(problem).splitlines()[0][:200]}", file=sys.stderr)
            else:
                print(f"{name}.{exporter}: {rows[-1]['outputs'] or 'refused'}", file=sys.stderr)
    print(table(rows, ("network", "exporter", "imports", "outputs", "names")))
    imported = [row for row in rows if row["imports"] == "yes"]
    return 0 if len(imported) >= 0.95 * len(rows) and all(r["outputs"] == "yes" for r in imported) else 1


if __name__ == "__main__":
    sys.exit(main())
