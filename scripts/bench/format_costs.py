# SPDX-License-Identifier: Apache-2.0
# The cost model beside Yosys, for layers and a network in number formats.
"""How far predicted costs are from what Yosys counts, for layers and lenet in formats of scripts/format_table.

usage: .venv/bin/python -B scripts/bench/format_costs.py [--mase BINARY] [--output FOLDER] [--docs FOLDER] [--jobs N]
                                                         [--formats TEXT] [DESIGN ...]

A row is a design in one format, as `mase emit --synth` prints it: its weights and the inputs of its layers, all drawn
from a normal distribution; biases are integers of 16 bits. Multipliers are in fabric, and for codes of 8 bits also DSP
blocks. LUTs and carry chains and DSP blocks should be within a tenth of Yosys's, and block memory equal; rows that are
not have a star. Designs that --output has from an earlier run are not synthesised again. With --docs the table is written
to hardware/format_costs.md there.
"""

import argparse
import hashlib
import importlib.machinery
import importlib.util
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn

ROOT = Path(__file__).resolve().parents[2]
FORMATS = (
    "integer(8, auto)",
    "fp8_e4m3",
    "fp8_e5m2",
    "fp6_e3m2",
    "fp4_e2m1",
    "log(4, auto)",
    "ternary(scaling_factor=true) x integer(8, auto)",
    "binary(scaled=true) x integer(8, auto)",
)
FAR = 0.1


def format_table():
    loader = importlib.machinery.SourceFileLoader("format_table", str(ROOT / "scripts" / "format_table"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    sys.modules[loader.name] = module
    loader.exec_module(module)
    return module


def lenet():
    """As lenet.hpp has it."""
    first = [nn.Conv2d(1, 8, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 5), nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*first, nn.Flatten(), nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, 10))


@dataclass(frozen=True)
class Design:
    name: str
    make: object
    shape: tuple
    intervals: tuple  # cycles from frame to frame
    kernel: int = 1  # of its convolutions
    kinds = ("conv2d", "linear")
    others = norms = ()


DESIGNS = (
    Design("linear_16", lambda: nn.Linear(16, 16), (16,), (16,)),
    Design("linear_64", lambda: nn.Linear(64, 64), (64,), (64,)),
    Design("convolution", lambda: nn.Conv2d(8, 16, 3), (8, 16, 16), (3136,), kernel=3),
    Design("lenet", lenet, (1, 28, 28), (20000,), kernel=5),
    Design("lenet_fast", lenet, (1, 28, 28), (4000,), kernel=5),
)


@dataclass(frozen=True)
class Row:
    design: Design
    interval: int
    form: object
    multiplier: str

    @property
    def name(self):
        letters = "".join(letter if letter.isalnum() else "_" for letter in str(self.form))
        return f"{self.design.name}_{self.interval}_{letters}_{self.multiplier}"


def write_design(design, output):
    """The traced module and rows for calibration."""
    torch.manual_seed(0)
    module = design.make().eval()
    for values in module.parameters():
        nn.init.normal_(values)
    rows = torch.randn(32, *design.shape)
    torch.jit.trace(module, rows[:1]).save(output / f"{design.name}.pt")
    np.save(output / f"{design.name}.npy", rows.numpy())


def files_hash(folder):
    found = hashlib.sha256()
    for file in sorted([*folder.glob("rtl/*.sv"), *folder.glob("**/*.mem")]):
        found.update(file.name.encode() + file.read_bytes())
    return found.hexdigest()


def measured(runner, row):
    """Resources of a row, predicted and counted; the latter once for the same sources."""
    files = [runner.options.output / f"{row.design.name}.{ending}" for ending in ("pt", "npy")]
    config = runner.config(row.design, row.form, row.name)
    done = runner.run("transform", files[0], "--input", files[1], "--config", config, *runner.project(f"{row.name}_t"))
    emit = ["emit", done["checkpoint"], "--ii", row.interval, "--multiplier", row.multiplier]
    emitted = runner.run(*emit, *runner.project(f"{row.name}_e"))
    predicted = next(entry["info"]["total"] for entry in emitted["passes"] if "total" in entry["info"])
    kept, key = runner.options.output / f"{row.name}.json", files_hash(Path(emitted["hardware"]))
    known = json.loads(kept.read_text()) if kept.exists() else {}
    if known.get("key") != key:
        synthesis = runner.run(*emit, "--synth", *runner.project(f"{row.name}_e"))["synthesis"]
        known = {"key": key, "total": synthesis["total"]}
        kept.write_text(json.dumps(known))
    return {"predicted": predicted, "total": known["total"]}


def is_far(predicted, found):
    return abs(predicted - found) > FAR * found


def cells(row, synthesis):
    predicted, found = synthesis["predicted"], synthesis["total"]
    luts = [part["lut"] + part["carry"] for part in (predicted, found)]
    far = is_far(*luts) or is_far(predicted["dsp"], found["dsp"]) or predicted["bram"] != found["bram"]
    first = [row.design.name, str(row.interval), str(row.form), row.multiplier]
    numbers = [f"{luts[0]:.0f}", f"{luts[1]:.0f}", f"{100 * (luts[0] / luts[1] - 1):+.1f} %"]
    pairs = [f"{part[kind]:g}" for kind in ("dsp", "bram") for part in (predicted, found)]
    return [*first, *numbers, *pairs, "*" if far else ""]


HEADER = ["design", "interval", "format", "multiplier", "lut", "yosys", "error", "dsp", "yosys", "bram", "yosys", ""]
PAGE = """# Costs of formats

The cost model beside Yosys 0.23 (`synth_xilinx -family xc7`), for designs in number formats. Weights and inputs are in
one format and drawn from a normal distribution. `lut` has the carry chains in it. A star marks a row whose LUTs or
DSP blocks are more than a tenth off, or whose block memory differs. `scripts/bench/format_costs.py` writes this page
for the designs that it is given: layers, and lenet at two intervals.

"""


def main():
    table = format_table()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], usage=__doc__)
    parser.add_argument("designs", nargs="*", metavar="DESIGN")
    parser.add_argument("--mase", type=Path, default=ROOT / "build/release/bin/mase")
    parser.add_argument("--output", type=Path, default=ROOT / "build/format_costs")
    parser.add_argument("--docs", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--formats", default="", help="rows whose format holds this text")
    options = parser.parse_args()
    unknown = set(options.designs) - {design.name for design in DESIGNS}
    if unknown:
        parser.error(f"unknown designs: {', '.join(sorted(unknown))}; there are {', '.join(d.name for d in DESIGNS)}")
    options.output.mkdir(parents=True, exist_ok=True)
    formats = [form for form in table.FORMATS if str(form) in FORMATS and options.formats in str(form)]
    rows = []
    for design in (design for design in DESIGNS if not options.designs or design.name in options.designs):
        write_design(design, options.output)
        for interval in design.intervals:
            for form in formats:
                multipliers = ("fabric", "dsp") if form.bits == 8 else ("fabric",)
                rows += [Row(design, interval, form, multiplier) for multiplier in multipliers]
    runner, lines = table.Runner(options), []
    print("\t".join(HEADER), flush=True)
    with ThreadPoolExecutor(options.jobs) as pool:
        for row, synthesis in zip(rows, pool.map(lambda row: measured(runner, row), rows)):
            lines.append(cells(row, synthesis))
            print("\t".join(lines[-1]), flush=True)
    if options.docs:
        text = ["| " + " | ".join(line) + " |" for line in [HEADER, *lines]]
        text.insert(1, "|" + "---|" * len(HEADER))
        (options.docs / "hardware" / "format_costs.md").write_text(PAGE + "\n".join(text) + "\n", encoding="utf-8")
    return 1 if any(line[-1] for line in lines) else 0


if __name__ == "__main__":
    sys.exit(main())
