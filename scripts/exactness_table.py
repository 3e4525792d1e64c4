#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Compares every op that has a datapath with the real function, the quantized level and its SystemVerilog.
"""usage: scripts/exactness [--quick] [--mase BINARY] [--output FOLDER] [--elements N] [--vectors N] [OP...]

For each op and width a network of that op alone, written by PyTorch, is quantized and run on every input code
(functions of one element) or on random and extreme rows (--elements N of them, 1000000). Printed are

  equal     share of results of the random rows that the levels `quantized` and `integer` agree on, and the most that
            they differ by in any row; rows of extremes put many results right between two codes, where float32
            and integers round either way
  real      largest distance of an integer result from the real function, evaluated in double precision on the same
            input codes; of a result that is rounded once it is 0.5
  rounded   largest distance from the real function rounded to the output's grid
  RTL       vectors of the simulation (--vectors N, 100) and its mismatches

all in units of the output's last place. Results beyond the output's range saturate, those of the real function too.
--quick: fewer elements, one width per op, no simulation. Exit code 1: a mismatch, a rounded distance above 1, or levels
that agree on less than 99.9 %.
"""

import argparse
import copy
import json
import math
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

import numpy
import torch
from torch import nn
from torch.nn import functional as F

ROOT = Path(__file__).resolve().parent.parent
COLUMNS = ("op", "input", "output", "results", "equal", "by", "real", "rounded", "RTL vectors", "mismatches")


@dataclass(frozen=True)
class Grid:
    width: int
    frac: int
    signed: bool = True

    def ends(self):
        return (-(1 << self.width - 1), (1 << self.width - 1) - 1) if self.signed else (0, (1 << self.width) - 1)

    def real(self, codes):
        return codes.double() / 2**self.frac

    def toml(self, port):
        return (
            f"{port}_width = {self.width}\n{port}_frac_width = {self.frac}\n"
            f"{port}_is_signed = {str(self.signed).lower()}\n"
        )

    def __str__(self):
        return f"{'' if self.signed else 'u'}{self.width}.{self.frac}"


@dataclass(frozen=True)
class Op:
    name: str  # as in `mase list ops`
    function: Callable
    grids: tuple  # pairs of an input's and the output's
    shape: tuple = (64,)  # of one row of every input
    inputs: int = 1
    ports: dict = field(default_factory=dict)  # further grids
    each: bool = False  # a function of each element: every code of the input is tried


class Network(nn.Module):
    def __init__(self, op):
        super().__init__()
        self.function = op.function

    def forward(self, *inputs):
        return self.function(*inputs)


def weighted(module, grid):
    """The module with weights on the grid: quantizing them changes nothing."""
    low, high = grid.ends()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randint(low, high + 1, parameter.shape) / 2**grid.frac)
    return module


def rows_of(op, grid, elements):
    """Codes [rows, shape...] of one input: all of them, or random rows, small ones and such at both ends."""
    low, high = grid.ends()
    size = math.prod(op.shape)
    if op.each:
        codes = torch.arange(low, high + 1)
        return codes.repeat(-(-size // len(codes))).narrow(0, 0, max(len(codes), size)).reshape(-1, *op.shape)
    rows = max(8, elements // size)
    codes = torch.randint(low, high + 1, (rows, size))
    codes[1::4] = codes[1::4].div(8, rounding_mode="floor")  # small ones
    ends = torch.randint(0, 2, (rows, size))
    codes[2::4] = torch.where(ends == 1, high, low)[2::4]
    codes[3::8] = high
    codes[7::8] = low
    codes[7::8, 0] = high
    return codes.reshape(rows, *op.shape)


class Table:
    def __init__(self, options):
        self.options = options
        self.folder = Path(options.output)
        self.folder.mkdir(parents=True, exist_ok=True)

    def mase(self, *arguments, codes=(0,)):
        command = [str(self.options.mase), *map(str, arguments), "--json"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode not in codes:
            sys.exit(f"{' '.join(command)}\nexit code {done.returncode}\n{done.stderr}{done.stdout}")
        return json.loads(done.stdout or "{}")

    def quantized(self, op, grid, out, frames):
        """The checkpoint of a network of this op."""
        name = f"{op.name}_{grid}_{out}"
        example = tuple(grid.real(frames[i][:2]).float() for i in range(op.inputs))
        traced = torch.jit.trace(Network(op).eval(), example)
        model, config = self.folder / f"{name}.pt", self.folder / f"{name}.toml"
        traced.save(model)
        ports = {"data_in": grid, "data_out": out, **op.ports}
        config.write_text(
            '[[pass]]\nrun = "quantize"\nby = "type"\n[pass.placeholder.config]\nname = "integer"\n'
            + grid.toml("data_out")
            + f'[pass.{op.name}.config]\nname = "integer"\n'
            + "".join(grid.toml(port) for port, grid in ports.items()),
            encoding="utf-8",
        )
        shapes = [word for _ in range(op.inputs) for word in ("--input-shape", ",".join(map(str, (2, *op.shape))))]
        done = self.mase(
            "transform",
            model,
            *shapes,
            "--config",
            config,
            "--project-dir",
            self.folder,
            "--project",
            name,
            "--overwrite",
        )
        return name, done["checkpoint"]

    def level(self, checkpoint, files, level):
        result = self.folder / f"{level}.npy"
        self.mase(
            "run",
            checkpoint,
            *[word for file in files for word in ("--input", file)],
            "--output",
            result,
            "--level",
            level,
        )
        return torch.from_numpy(numpy.load(result)).double()

    def simulate(self, name, checkpoint):
        project = ["--project-dir", self.folder, "--project", name]
        self.mase("emit", checkpoint, *project)
        done = self.mase("simulate", checkpoint, "--random", self.options.vectors, *project, codes=(0, 1))["simulation"]
        return done["frames"], done["mismatches"] + bool(done["deadlock"])

    def row(self, op, grid, out):
        frames = [rows_of(op, grid, self.options.elements) for _ in range(op.inputs)]
        name, checkpoint = self.quantized(op, grid, out, frames)
        files = [self.folder / f"{name}_{i}.npy" for i in range(op.inputs)]
        for file, codes in zip(files, frames):
            numpy.save(file, grid.real(codes).float().numpy())
        integer, quantized = (self.level(checkpoint, files, level) * 2**out.frac for level in ("integer", "quantized"))
        with torch.no_grad():
            real = copy.deepcopy(Network(op)).double().eval()(*map(grid.real, frames)) * 2**out.frac
        real = real.clamp(*out.ends())
        apart = (integer - quantized).abs()
        usual = apart if op.each else torch.cat((apart[0::4], apart[1::4]))
        cells = [
            integer.numel(),
            (usual == 0).double().mean().item(),
            apart.max().item(),
            (integer - real).abs().max().item(),
            (integer - real.round()).abs().max().item(),
        ]
        vectors, mismatches = (0, 0) if self.options.quick else self.simulate(name, checkpoint)
        good = mismatches == 0 and cells[1] >= 0.999 and cells[4] <= 1
        print_cells(
            (
                op.name,
                grid,
                out,
                cells[0],
                f"{100 * cells[1]:.3f} %",
                f"{cells[2]:g}",
                f"{cells[3]:.3f}",
                f"{cells[4]:g}",
                vectors,
                mismatches,
                "" if good else "<-",
            )
        )
        return good


def print_cells(cells):
    widths = (20, 8, 8, 9, 10, 6, 7, 8, 12, 11, 2)
    print("".join(str(cell).rjust(width) for cell, width in zip(cells, widths)), flush=True)


W8 = Grid(8, 6)
IN = (Grid(4, 2), Grid(6, 3), Grid(8, 4), Grid(10, 6))
PROBABILITY = tuple((grid, Grid(8, 8, False)) for grid in (Grid(6, 2), Grid(8, 4)))
EIGHT = ((Grid(8, 4), Grid(8, 4)), (Grid(6, 3), Grid(8, 5)))


def onto(*out):
    return tuple((grid, end) for grid in IN for end in out)


def operations():
    functions = {
        "gelu": F.gelu,
        "silu": F.silu,
        "tanh": torch.tanh,
        "sigmoid": torch.sigmoid,
        "softplus": F.softplus,
        "elu": F.elu,
        "hardswish": F.hardswish,
        "hardsigmoid": F.hardsigmoid,
        "relu": F.relu,
        "leaky_relu": F.leaky_relu,
        "exp": torch.exp,
    }
    for name, function in functions.items():
        yield Op(name, function, onto(Grid(8, 5)), (16,), each=True)
    positive = tuple((Grid(width, 4, False), Grid(8, 5)) for width in (4, 8, 10))
    for name, function in {"rsqrt": torch.rsqrt, "sqrt": torch.sqrt, "reciprocal": torch.reciprocal}.items():
        yield Op(name, function, positive, (16,), each=True)
    yield Op("softmax", lambda x: torch.softmax(x, -1), PROBABILITY, (4, 64))
    yield Op("softmax", lambda x: torch.softmax(x, -1), PROBABILITY[1:], (197,))
    yield Op("log_softmax", lambda x: torch.log_softmax(x, -1), ((Grid(8, 4), Grid(8, 3)),), (10,))
    yield Op("log_softmax", lambda x: torch.log_softmax(x, -1), ((Grid(10, 6), Grid(12, 7)),), (64,))
    gain = {"weight": W8, "bias": W8}
    yield Op("layer_norm", weighted(nn.LayerNorm(64), W8), EIGHT, (4, 64), ports=gain)
    yield Op("layer_norm", weighted(nn.LayerNorm(192), W8), EIGHT[:1], (192,), ports=gain)
    yield Op("rms_norm", weighted(nn.RMSNorm(64), W8), EIGHT, (4, 64), ports={"weight": W8})
    yield Op("group_norm", weighted(nn.GroupNorm(4, 16), W8), EIGHT[:1], (16, 6, 6), ports=gain)
    yield Op("matmul", torch.matmul, EIGHT, (2, 16, 16), 2, ports={"weight": Grid(8, 4)})
    yield Op("linear", weighted(nn.Linear(64, 32), W8), EIGHT, (64,), ports=gain)
    yield Op("conv2d", weighted(nn.Conv2d(8, 16, 3, padding=1), W8), EIGHT[:1], (8, 10, 10), ports=gain)
    yield Op("add", torch.add, EIGHT, (64,), 2)
    yield Op("sub", torch.sub, EIGHT, (64,), 2)
    yield Op("mul", torch.mul, EIGHT, (64,), 2)
    yield Op("mean", lambda x: x.mean(1), EIGHT, (12, 8))
    yield Op("avg_pool2d", nn.AvgPool2d(3, 2), EIGHT[:1], (4, 9, 9))
    yield Op("max_pool2d", nn.MaxPool2d(2), EIGHT[:1], (4, 8, 8))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mase", default=ROOT / "build/release/bin/mase", type=Path)
    parser.add_argument("--output", default="mase_output/exactness")
    parser.add_argument("--elements", type=int, default=1_000_000)
    parser.add_argument("--vectors", type=int, default=100)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("ops", nargs="*", help="names of ops; default: all")
    options = parser.parse_args()
    if options.quick:
        options.elements = min(options.elements, 20_000)
    torch.manual_seed(0)
    table = Table(options)
    print_cells(COLUMNS)
    good = True
    for op in operations():
        if options.ops and op.name not in options.ops:
            continue
        for grid, out in op.grids[-1:] if options.quick else op.grids:
            good &= table.row(op, grid, out)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
