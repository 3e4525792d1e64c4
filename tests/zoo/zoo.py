# SPDX-License-Identifier: Apache-2.0
"""What scripts/zoo runs: every network becomes TorchScript, goes through mase, and gets a row.

imports    mase runs it
bits       the results of `mase run` have the bits of stock PyTorch
names      the nodes are called as torch.fx calls them; - where torch.fx itself cannot trace the network
quantized  a checkpoint with 8-bit integers everywhere gives in stock PyTorch what mase gives for it
"""

import argparse
import json
import subprocess
import sys
import warnings
from pathlib import Path

import numpy
import torch
from networks import NETWORKS, Network
from torch import Tensor, nn

QUANTIZE = """
[passes.expand_attention]
[passes.quantize]
report = false
[passes.quantize.default.config]
name = "integer"
"""
for port, fraction in (("data_in", 4), ("weight", 6), ("bias", 6)):
    QUANTIZE += f"{port}_width = 8\n{port}_frac_width = {fraction}\n"


class Refused(Exception):
    """mase ended with another exit code than 0; its last line."""


def mase(program: Path, *arguments: object) -> str:
    words = [str(word) for word in (program, *arguments)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        raise Refused(f"exit {done.returncode}: {' '.join(done.stderr.split())}")
    return done.stdout


def tensors_of(value: object) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [tensor for item in value for tensor in tensors_of(item)] if isinstance(value, (list, tuple)) else []


def script_of(model: nn.Module, kind: str, inputs: tuple[Tensor, ...]) -> torch.jit.ScriptModule:
    if kind == "script":
        return torch.jit.script(model)
    return torch.jit.trace(model, inputs, check_trace=False, strict=False)


def made(network: Network, folder: Path) -> tuple[nn.Module, list[object]]:
    """The network with its weights, and the words that give mase its inputs, which the folder gets."""
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    words: list[object] = []
    for i, value in enumerate(network.inputs):
        numpy.save(folder / f"x{i}.npy", value.numpy())
        words += ["--input", folder / f"x{i}.npy"]
    # LibTorch adds up in another order for weights that want gradients.
    return network.make().eval().requires_grad_(False), words


def fx_names(model: nn.Module) -> list[str] | None:
    try:
        return [node.name for node in torch.fx.symbolic_trace(model).graph.nodes]
    except Exception:
        return None


def same(left: list[numpy.ndarray], right: list[Tensor]) -> str:
    """yes, or by how much they differ."""
    if len(left) != len(right):
        return f"{len(left)} of {len(right)} results"
    worst = 0.0
    for ours, theirs in zip(left, (tensor.numpy() for tensor in right)):
        if ours.shape != theirs.shape:
            return "shape"
        if not numpy.array_equal(ours, theirs, equal_nan=True):
            worst = max(worst, float(numpy.abs(ours.astype("f8") - theirs).max()))
    return "yes" if worst == 0 else f"{worst:.1e}"


class Trial:
    def __init__(self, program: Path, folder: Path, name: str, kind: str) -> None:
        self.program, self.folder = program, folder / f"{name}.{kind}"
        self.network: Network = NETWORKS[name]
        self.kind = kind
        self.row = {"network": name, "kind": kind, "imports": "no", "bits": "", "names": "", "quantized": "", "why": ""}

    def results(self, model: Path, *options: str) -> list[numpy.ndarray]:
        for old in self.folder.glob("y*.npy"):
            old.unlink()
        mase(self.program, "run", model, "--output", self.folder / "y.npy", *self.inputs, *options)
        return [numpy.load(file) for file in sorted(self.folder.glob("y*.npy"))]

    def run(self) -> dict[str, str]:
        model, self.inputs = made(self.network, self.folder)
        with torch.no_grad():
            script = script_of(model, self.kind, self.network.inputs)
            expected = tensors_of(script(*self.network.inputs))
        script.save(str(self.folder / "model.pt"))
        try:
            self.row["bits"] = same(self.results(self.folder / "model.pt"), expected)
            self.row["imports"] = "yes"
            self.row["names"] = self.names(model)
            self.row["quantized"] = self.quantized()
        except (Refused, subprocess.TimeoutExpired) as problem:
            self.row["why"] = str(problem)[:400]
        return self.row

    def names(self, model: nn.Module) -> str:
        wanted = fx_names(model) if self.kind == "script" else None
        if wanted is None:
            return "-"
        shown = json.loads(mase(self.program, "show", self.folder / "model.pt", *self.inputs, "--format", "json"))
        ours = [node["name"] for node in shown["nodes"]]
        return "yes" if ours == wanted else f"{len(set(ours) ^ set(wanted))} differ"

    def quantized(self) -> str:
        config = self.folder / "quantize.toml"
        config.write_text(QUANTIZE)
        options = ("--project-dir", self.folder, "--project", "q", "--overwrite", "-q")
        mase(self.program, "transform", self.folder / "model.pt", "--config", config, *self.inputs, *options)
        checkpoint = self.folder / "q/software/transform/transformed_ckpt/graph_module.pt"
        with torch.no_grad():
            stock = tensors_of(torch.jit.load(checkpoint).eval()(*self.network.inputs))
        return same(self.results(checkpoint), stock)


def table(rows: list[dict[str, str]], columns: tuple[str, ...]) -> str:
    """The rows, why some were refused, and how many say yes in each column but the first two."""
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(row[column] for column in columns) + " |" for row in rows]
    lines += [""] + [f"{row[columns[0]]}.{row[columns[1]]}: {row['why']}" for row in rows if row["why"]]
    for column in columns[2:]:
        judged = [row[column] for row in rows if row[column] not in ("", "-")]
        lines.append(f"{column}: {judged.count('yes')} of {len(judged)}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("network", nargs="*", help="only those whose name begins so")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    chosen = [n for n in NETWORKS if not arguments.network or n.startswith(tuple(arguments.network))]
    rows = []
    for name in chosen:
        for kind in NETWORKS[name].kinds:
            try:
                rows.append(Trial(arguments.program.resolve(), arguments.folder.resolve(), name, kind).run())
            except Exception as problem:  # what stock PyTorch itself cannot do is not a row
                print(f"{name}.{kind}: not made: {str(problem).splitlines()[0]}", file=sys.stderr)
            else:
                print(f"{name}.{kind}: {rows[-1]['bits'] or 'refused'}", file=sys.stderr)
    print(table(rows, ("network", "kind", "imports", "bits", "names", "quantized")))
    imported = [row for row in rows if row["imports"] == "yes"]
    return 0 if len(imported) >= 0.95 * len(rows) and all(not r["why"] or r["imports"] == "no" for r in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
