# SPDX-License-Identifier: Apache-2.0
"""What scripts/zoo --pt2 runs: every network is saved as an exported program in several forms, read, and gets a row.

imports    mase runs the file
outputs    the results of `mase run` are those of stock PyTorch to 1e-5 of the largest one
bits       they are the same bits
layers     how many of the layers that the import of the traced or scripted network has are layers of the same name,
           class and operator here, and the names of others
"""

import argparse
import json
import logging
import subprocess
import sys
import warnings
from pathlib import Path

import numpy
import torch
from exported import distance
from networks import NETWORKS
from zoo import Refused, made, mase, script_of, table, tensors_of

FORMS = {
    "plain": lambda export: export(strict=False),
    "strict": lambda export: export(strict=True),
    "functional": lambda export: export(strict=False).run_decompositions({}),
    "decomposed": lambda export: export(strict=False).run_decompositions(),
}
SHOWN = 4  # names of layers in a row


def layers_of(program: Path, file: Path, inputs: list[object]) -> dict[str, tuple[str, str]]:
    nodes = json.loads(mase(program, "show", file, *inputs, "--format", "json"))["nodes"]
    return {n["name"]: (n["target"], n["metadata"]["common"]["mase_op"]) for n in nodes if n["op"] == "call_module"}


class Trial:
    def __init__(self, program: Path, folder: Path, name: str) -> None:
        self.program, self.folder, self.name, self.network = program, folder / name, name, NETWORKS[name]
        self.model, self.inputs = made(self.network, self.folder)
        with torch.no_grad():
            self.expected = tensors_of(self.model(*self.network.inputs))
        self.wanted = self.layers_of_torchscript()

    def layers_of_torchscript(self) -> dict[str, tuple[str, str]] | None:
        for kind in reversed(self.network.kinds):
            file = self.folder / "model.pt"
            try:
                with torch.no_grad():
                    script_of(self.model, kind, self.network.inputs).save(str(file))
                return layers_of(self.program, file, self.inputs)
            except Exception:  # not every network can be traced or scripted
                continue
        return None

    def export(self, strict: bool) -> torch.export.ExportedProgram:
        return torch.export.export(self.model, self.network.inputs, strict=strict)

    def row(self, form: str) -> dict[str, str]:
        row = {
            "network": self.name,
            "form": form,
            "imports": "no",
            "outputs": "",
            "bits": "no",
            "layers": "",
            "why": "",
        }
        file = self.folder / f"{form}.pt2"
        torch.export.save(FORMS[form](self.export), file)
        try:
            for old in self.folder.glob("y*.npy"):
                old.unlink()
            said = mase(self.program, "run", file, "--output", self.folder / "y.npy", *self.inputs, "--json")
            ours = [numpy.load(one["file"]) for one in json.loads(said)["outputs"]]
            row["imports"] = "yes"
            same = len(ours) == len(self.expected) and all(map(numpy.array_equal, ours, self.expected))
            row["bits"] = "yes" if same else "no"
            row["outputs"] = distance(ours, self.expected)
            row["layers"] = self.compared(layers_of(self.program, file, self.inputs))
        except (Refused, subprocess.TimeoutExpired) as problem:
            row["why"] = str(problem)[:400]
        return row

    def compared(self, found: dict[str, tuple[str, str]]) -> str:
        if self.wanted is None:
            return "-"
        others = [name for name, layer in self.wanted.items() if found.get(name) != layer]
        if not others:
            return "yes"
        more = ", ..." if len(others) > SHOWN else ""
        return f"{len(self.wanted) - len(others)} of {len(self.wanted)}, not {', '.join(others[:SHOWN])}{more}"


def reason(problem: Exception) -> str:
    lines = str(problem).splitlines() or [type(problem).__name__]
    return lines[0][:200]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("network", nargs="*", help="only those whose name begins so")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)
    torch.set_num_threads(1)
    program, folder = arguments.program.resolve(), arguments.folder.resolve()
    rows = []
    for name in NETWORKS:
        if arguments.network and not name.startswith(tuple(arguments.network)):
            continue
        trial = Trial(program, folder, name)
        for form in FORMS:
            try:
                rows.append(trial.row(form))
            except Exception as problem:  # what stock PyTorch itself cannot export is not a row
                print(f"{name}.{form}: not exported: {reason(problem)}", file=sys.stderr)
            else:
                print(f"{name}.{form}: {rows[-1]['outputs'] or rows[-1]['why']}", file=sys.stderr)
    print(table(rows, ("network", "form", "imports", "outputs", "bits", "layers")))
    read = [row for row in rows if row["imports"] == "yes"]
    return 0 if len(read) >= 0.95 * len(rows) and all(r["outputs"] == "yes" for r in read) else 1


if __name__ == "__main__":
    sys.exit(main())
