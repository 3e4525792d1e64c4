# SPDX-License-Identifier: Apache-2.0
"""What scripts/zoo --write runs: every network becomes TorchScript, `mase convert` writes it as ONNX, and it gets a row.

written    mase writes the file
outputs    ONNX Runtime computes from it what mase computes from the TorchScript, to 1e-5 of the largest result
again      the file is read as the same graph
"""

import argparse
import subprocess
import sys
import warnings
from pathlib import Path

import numpy
import onnxruntime
import torch
from exported import distance
from networks import NETWORKS
from torch import Tensor
from zoo import Refused, made, mase, script_of, table


class Trial:
    def __init__(self, program: Path, folder: Path, name: str, kind: str) -> None:
        self.program, self.folder = program, folder / f"{name}.{kind}"
        self.network, self.kind = NETWORKS[name], kind
        self.row = {"network": name, "kind": kind, "written": "no", "outputs": "", "again": "", "why": ""}

    def run(self) -> dict[str, str]:
        model, self.inputs = made(self.network, self.folder)
        script, file = self.folder / "model.pt", self.folder / "model.onnx"
        try:
            with torch.no_grad():
                script_of(model, self.kind, self.network.inputs).save(str(script))
        except Exception as problem:  # PyTorch cannot script every network
            self.row.update(written="-", why=f"TorchScript: {' '.join(str(problem).split())[:200]}")
            return self.row
        try:
            expected = self.results(script)
            mase(self.program, "convert", script, file, "--overwrite", *self.inputs)
            self.row["written"] = "yes"
            self.row["outputs"] = distance(self.runtime_results(file), expected)
            shown = [mase(self.program, "show", one, *self.inputs) for one in (script, file)]
            self.row["again"] = "yes" if shown[0] == shown[1] else "no"
        except (Refused, subprocess.TimeoutExpired) as problem:
            self.row["why"] = str(problem)[:400]
        return self.row

    def results(self, script: Path) -> list[Tensor]:
        said = mase(self.program, "run", script, "--output", self.folder / "y.npy", "--overwrite", *self.inputs)
        files = [line.split(":")[0] for line in said.splitlines()]
        return [torch.from_numpy(numpy.load(file)) for file in files if file.endswith(".npy")]

    def runtime_results(self, file: Path) -> list[numpy.ndarray]:
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
        arrays = (value.numpy() for value in self.network.inputs)
        return session.run(None, {one.name: array for one, array in zip(session.get_inputs(), arrays)})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("prefixes", nargs="*")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    names = [name for name in NETWORKS if not options.prefixes or name.startswith(tuple(options.prefixes))]
    rows = []
    for name in names:
        for kind in NETWORKS[name].kinds:
            rows.append(Trial(options.program.resolve(), options.folder.resolve(), name, kind).run())
            print(name, kind, *list(rows[-1].values())[2:], file=sys.stderr, flush=True)
    print(table(rows, ("network", "kind", "written", "outputs", "again")))
    judged = [row for row in rows if row["written"] != "-"]
    written = [row for row in judged if row["written"] == "yes"]
    return 0 if len(written) >= 0.9 * len(judged) and all(row["outputs"] == "yes" for row in written) else 1


if __name__ == "__main__":
    sys.exit(main())
