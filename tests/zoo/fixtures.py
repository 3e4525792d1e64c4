# SPDX-License-Identifier: Apache-2.0
"""What scripts/zoo --onnx --fixtures runs: the networks of tests/fixtures/models go through both of PyTorch's exporters.

Each file gives a line for each exporter that takes it: how many of the layers that `mase` finds in the file itself are
layers of the same name in the ONNX file, why others are not, how many tensors of the state_dict have their names, and
how far the results are from PyTorch's and from those of `mase` on the file itself, as a part of the largest one.

layer_names.py has the reasons. A layer without one is a fault, and so are a name that stands for another operation, or a
tensor under the name of another one, a result that differs, and a file that ONNX Runtime takes and mase refuses.
"""

import argparse
import json
import logging
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy
import onnx
import onnxruntime
import torch
from exported import CLOSE, KEEPS_LAYERS
from layer_names import LOST, layers_of, reasons_of, told_paths
from torch import Tensor, nn
from torch._export.converter import TS2EPConverter
from zoo import Refused, mase, tensors_of

EXPORTERS = {"older": "trace", "newer": "dynamo"}


@dataclass
class Row:
    named: int = 0
    layers: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    tensors: str = ""
    distance: float = 0.0
    faults: list[str] = field(default_factory=list)

    def text(self) -> str:
        why = ", ".join(f"{count} {reason}" for reason, count in sorted(self.reasons.items()))
        parts = [f"{self.named} of {self.layers} layers" + (f" ({why})" if why else ""), self.tensors]
        return "; ".join([*parts, f"largest difference {self.distance:.1e}", *self.faults])


def same_tensor(ours: Tensor, theirs: Tensor, folded: bool) -> bool:
    """Whether one is the other, or its rows are those of the other times the factors of a batch norm."""
    if ours.shape != theirs.shape:
        return False
    if torch.allclose(ours, theirs, atol=1e-6) or (folded and theirs.dim() < 2):
        return True
    along = nn.functional.cosine_similarity(ours.flatten(1).double(), theirs.flatten(1).double()).abs()
    return folded and bool((along > 1 - CLOSE).all())


def distance(left: list[numpy.ndarray], right: list[numpy.ndarray]) -> float:
    if [one.shape for one in left] != [one.shape for one in right]:
        return float("inf")
    scales = (max(float(numpy.abs(one).max(initial=0)), 1e-30) for one in right)
    return max(float(numpy.abs(a - b).max(initial=0)) / scale for a, b, scale in zip(left, right, scales))


class Trial:
    def __init__(self, program: Path, folder: Path, source: Path, keeps_layers: bool) -> None:
        self.program, self.folder, self.source, self.keeps_layers = program, folder, source, keeps_layers
        files = sorted(source.parent.glob("input*.npy"))
        self.inputs = tuple(torch.from_numpy(numpy.load(file)) for file in files)
        self.words: list[object] = [word for file in files for word in ("--input", file)]
        # The network of a .pt2 file is that of the script beside it, which the exporters take too.
        self.original = source if source.suffix == ".pt" else next(source.parent.glob("*.script.pt"))
        self.script = torch.jit.load(self.original).eval()
        with torch.no_grad():
            self.expected = [one.numpy() for one in tensors_of(self.script(*self.inputs))]

    def export(self, exporter: str) -> Path:
        file = self.folder / f"{self.source.name}.{exporter}.onnx"
        options = KEEPS_LAYERS[EXPORTERS[exporter]] if self.keeps_layers else {}
        model: object = torch.jit.load(self.original).eval()
        if self.source.suffix == ".pt2":
            model = torch.export.load(self.source)
        elif exporter == "newer":
            model = TS2EPConverter(model, self.inputs, None).convert()
        with torch.no_grad():
            torch.onnx.export(model, self.inputs, file, dynamo=exporter == "newer", verbose=False, **options)
        return file

    def results(self, file: Path) -> list[numpy.ndarray]:
        with tempfile.TemporaryDirectory() as folder:
            said = mase(self.program, "run", file, "--output", Path(folder) / "y.npy", *self.words, "--json")
            return [numpy.load(one["file"]) for one in json.loads(said)["outputs"]]

    def state(self, file: Path) -> dict[str, Tensor]:
        script = self.folder / "again.pt"
        mase(self.program, "convert", file, script, "--overwrite", *self.words)
        return torch.jit.load(script).state_dict()

    def run(self, file: Path) -> Row:
        row = Row()
        ours = self.results(file)
        row.distance = max(distance(ours, self.expected), distance(ours, self.results(self.original)))
        if not row.distance <= CLOSE:
            row.faults.append("RESULTS DIFFER")
        self.compare_layers(file, row)
        return row

    def compare_layers(self, file: Path, row: Row) -> None:
        wanted, _ = layers_of(self.program, self.original, self.words)
        found, ops = layers_of(self.program, file, self.words)
        named = {name for name in wanted if name in found}
        row.named, row.layers = len(named), len(wanted)
        for name in named:
            if found[name][1] != wanted[name][1]:
                row.faults.append(f"{name} IS A {found[name][1]}, NOT A {wanted[name][1]}")
        reasons = reasons_of(wanted, found, ops, told_paths(onnx.load(file)))
        row.reasons = Counter(reasons.values())
        row.faults += [f"{name} HAS LOST ITS NAME" for name, reason in reasons.items() if reason == LOST]
        self.compare_tensors(file, row, {found[name][0] for name in named})

    def compare_tensors(self, file: Path, row: Row, paths: set[str]) -> None:
        wanted, found = self.script.state_dict(), self.state(file)
        kept = [key for key in wanted if key in found]
        row.tensors = f"{len(kept)} of {len(wanted)} tensors"
        for key in wanted:
            if key not in found and key.rpartition(".")[0] in paths and not key.endswith("num_batches_tracked"):
                row.faults.append(f"{key} IS MISSING")
            elif key in found and not same_tensor(found[key], wanted[key], row.reasons["folded"] > 0):
                row.faults.append(f"{key} IS ANOTHER TENSOR")


def runtime_takes(file: Path, inputs: tuple[Tensor, ...]) -> bool:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
        session.run(None, {one.name: given.numpy() for one, given in zip(session.get_inputs(), inputs)})
    except Exception:
        return False
    return True


def first_line(problem: Exception) -> str:
    return next((line for line in str(problem).splitlines() if line), repr(problem))[:200]


def tried(trial: Trial, exporter: str) -> tuple[str, Row | None, bool]:
    """What is printed, the row if there is one, and whether all is as it should be."""
    try:
        file = trial.export(exporter)
    except Exception as problem:
        return f"PyTorch does not export it: {first_line(problem)}", None, True
    try:
        row = trial.run(file)
        return row.text(), row, not row.faults
    except (Refused, subprocess.TimeoutExpired) as problem:
        is_sound = runtime_takes(file, trial.inputs)
        return f"refused{'' if is_sound else ', as by ONNX Runtime'}: {problem}", None, not is_sound


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("fixture", nargs="*", help="only those whose name begins so")
    parser.add_argument("--keep-layers", action="store_true", help="have the exporters keep batch norms")
    arguments = parser.parse_intermixed_args()
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)
    program, folder = arguments.program.resolve(), arguments.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    total, faults, rows = Row(), 0, 0
    models = Path(__file__).resolve().parent.parent / "fixtures" / "models"
    for source in sorted(models.glob("*/*.pt*")):
        if not source.name.startswith(tuple(arguments.fixture) or ""):
            continue
        if (source.parent / "expected_refusal.txt").exists():
            print(f"{source.name}: mase refuses the network itself")
            continue
        trial = Trial(program, folder, source, arguments.keep_layers)
        for exporter in EXPORTERS:
            if source.suffix == ".pt2" and exporter == "older":
                continue
            text, row, is_fine = tried(trial, exporter)
            print(f"{source.name}, {exporter}: {text}", flush=True)
            faults += not is_fine
            if row:
                rows += 1
                total.named, total.layers = total.named + row.named, total.layers + row.layers
                total.reasons += row.reasons
                total.distance = max(total.distance, row.distance)
    total.tensors = f"{rows} files, {faults} with faults"
    print(f"all: {total.text()}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
