# SPDX-License-Identifier: Apache-2.0
"""What scripts/zoo --emit runs: every encoder is traced as its users do and goes through `mase init`, `transform`
and `emit` without edits. A row per encoder says what became of it: emitted, or which command refused it and why.

run        how far the results of `mase run` are from those of stock PyTorch
sqnr       of the results that hardware computes, in dB: those of stock PyTorch against their distance from these
simulated  (--simulate) how many beats of the emitted hardware differ from the integer model
"""

import argparse
import json
import subprocess
import sys
import warnings
from pathlib import Path

import numpy
import torch
from encoders import ENCODERS
from zoo import Refused, mase, same, script_of, tensors_of

ASKED = 0.9


def sqnr(ours: list[numpy.ndarray], exact: list[torch.Tensor]) -> str:
    signal = sum(float((tensor.double() ** 2).sum()) for tensor in exact)
    noise = sum(float(((tensor.numpy() - array.astype("f8")) ** 2).sum()) for array, tensor in zip(ours, exact))
    return "exact" if noise == 0 else f"{10 * numpy.log10(signal / noise):.1f} dB"


class Journey:
    """One encoder's way from PyTorch to hardware."""

    def __init__(self, program: Path, folder: Path, name: str) -> None:
        self.program, self.folder, self.network = program, folder / name, ENCODERS[name]
        self.step = ""
        self.row = {"encoder": name, "result": "emitted", "run": "", "sqnr": "", "simulated": ""}

    def command(self, step: str, *arguments: object) -> str:
        self.step = step
        return mase(self.program, step, *arguments)

    def run(self, simulate: bool) -> dict[str, str]:
        self.folder.mkdir(parents=True, exist_ok=True)
        torch.manual_seed(0)
        model = self.network.make().eval()
        script = script_of(model, "trace", self.network.inputs)
        script.save(str(self.folder / "model.pt"))
        self.inputs: list[object] = []
        for i, value in enumerate(self.network.inputs):
            numpy.save(self.folder / f"x{i}.npy", value.numpy())
            self.inputs += ["--input", self.folder / f"x{i}.npy"]
        with torch.no_grad():
            expected = tensors_of(script(*self.network.inputs))
        try:
            self.row["run"] = same(self.results(self.folder / "model.pt"), expected)
            self.emit()
            self.row["sqnr"] = sqnr(self.results(self.checkpoint(), "--level", "integer"), expected)
            if simulate:
                self.row["simulated"] = self.simulated()
        except (Refused, subprocess.TimeoutExpired) as problem:
            self.row["result"] = f"{self.step}: {problem}"
        return self.row

    def results(self, model: Path, *options: str) -> list[numpy.ndarray]:
        for old in self.folder.glob("y*.npy"):
            old.unlink()
        self.command("run", model, "--output", self.folder / "y.npy", *self.inputs, *options)
        return [numpy.load(file) for file in sorted(self.folder.glob("y*.npy"))]

    def emit(self) -> None:
        config, project = self.folder / "init.toml", ("--project-dir", self.folder, "--project", "p")
        self.command("init", self.folder / "model.pt", *self.inputs, "-o", config, "--overwrite")
        self.command("transform", "--config", config, *self.inputs, *project, "--overwrite", "-q")
        self.command("emit", self.checkpoint(), *project, "-q")

    def checkpoint(self) -> Path:
        return self.folder / "p/software/transform/transformed_ckpt/graph_module.pt"

    def simulated(self) -> str:
        project = ("--project-dir", self.folder, "--project", "p", "--json")
        said = json.loads(self.command("simulate", self.checkpoint(), *self.inputs, *project))
        return f"{said['simulation']['mismatches']} of {said['simulation']['beats']} beats"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("encoder", nargs="*", help="only those whose name begins so")
    parser.add_argument("--simulate", action="store_true", help="simulate what was emitted, too")
    arguments = parser.parse_intermixed_args()
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    chosen = [n for n in ENCODERS if not arguments.encoder or n.startswith(tuple(arguments.encoder))]
    rows = []
    for name in chosen:
        try:
            rows.append(Journey(arguments.program.resolve(), arguments.folder.resolve(), name).run(arguments.simulate))
        except Exception as problem:  # what stock PyTorch itself cannot do is not a row
            print(f"{name}: not made: {str(problem).splitlines()[0]}", file=sys.stderr)
        else:
            print(*rows[-1].values(), sep=" | ", flush=True)
    emitted = sum(row["result"] == "emitted" for row in rows)
    print(f"emitted: {emitted} of {len(rows)}")
    return 0 if emitted >= ASKED * len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
