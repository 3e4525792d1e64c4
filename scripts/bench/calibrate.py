#!/usr/bin/env python3
"""Compares the cost model of a hardware module with Yosys (synth_xilinx, xc7) over many parameters.

usage: scripts/bench/calibrate.py PROGRAM MODULE FILE

PROGRAM is bench_module_cost of a build with -DMASE_BENCH=ON. Each line of FILE is one set of
parameters, NAME=VALUE separated by blanks; a value is an integer, an unsigned Verilog constant
(1280'h3f...) or a memory image DEPTHxBITS, which is filled with seeded random words. Empty lines
and lines starting with # are skipped. For another module write such a file next to
scripts/bench/calibrate/linear.txt; the module needs a cost function in lib/hw/modules.
"""

import collections
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
LUTS = {"RAM32M": 4, "RAM64M": 4, "RAM32X1D": 2, "RAM64X1D": 2, "RAM128X1D": 4}


def module_files(module):
    """The module's file and those of everything it may instantiate."""
    folders = [path for path in (ROOT / "hw_templates").iterdir() if path.is_dir()]
    known = {path.stem: path for folder in folders for path in folder.glob("*.sv")}
    wanted, todo = {}, [module]
    while todo:
        name = todo.pop()
        if name in wanted:
            continue
        wanted[name] = known[name]
        words = set(re.findall(r"^\s*(\w+) #\(", known[name].read_text(), re.MULTILINE))
        todo += words & known.keys()
    return sorted(str(path) for path in wanted.values())


def verilog_value(value, folder, name):
    """The value as `chparam` takes it; memory images are written to `folder`."""
    image = re.fullmatch(r"(\d+)x(\d+)", value)
    if not image:
        return value
    depth, bits = int(image[1]), int(image[2])
    file = pathlib.Path(folder) / f"{name}.mem"
    draw = random.Random(1)
    digits = (bits + 3) // 4
    file.write_text("".join(f"{draw.getrandbits(bits):0{digits}x}\n" for _ in range(depth)))
    return f'"{file}"'


def measured(module, parameters):
    """Cells by kind, as mase counts them."""
    with tempfile.TemporaryDirectory() as folder:
        values = " ".join(f"-set {name} {verilog_value(value, folder, name)}"
                          for name, value in parameters.items())
        stat = pathlib.Path(folder) / "stat.json"
        files = " ".join(module_files(module))
        script = (f"read_verilog -sv -defer {files}; chparam {values} {module}; "
                  f"synth_xilinx -family xc7 -noiopad -noclkbuf -flatten -top {module}; "
                  f"tee -q -o {stat} stat -json")
        subprocess.run(["yosys", "-q", "-p", script], check=True, stdout=subprocess.DEVNULL)
        text = stat.read_text()
        cells = json.loads(text[text.index("{"):])["design"]["num_cells_by_type"]
    count = collections.Counter()
    for name, number in cells.items():
        if name.startswith("LUT"):
            count["lut"] += number
        elif name in LUTS:
            count["lut"] += LUTS[name] * number
        elif name.startswith(("FDRE", "FDSE")):
            count["ff"] += number
        elif name in ("CARRY4", "DSP48E1"):
            count[{"CARRY4": "carry", "DSP48E1": "dsp"}[name]] += number
        elif name in ("RAMB36E1", "RAMB18E1"):
            count["bram"] += number * (1 if name == "RAMB36E1" else 0.5)
    return count


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    program, module, file = sys.argv[1:]
    kinds = ["lut", "carry", "ff", "dsp", "bram"]
    print("predicted/measured ", *(f"{kind:>15}" for kind in kinds), "LUT+carry error")
    for line in pathlib.Path(file).read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        parameters = dict(item.split("=", 1) for item in line.split())
        told = subprocess.run([program, module, *line.split()], check=True, capture_output=True,
                              text=True)
        predicted = json.loads(told.stdout)
        found = measured(module, parameters)
        pairs = [f"{predicted[kind]:7.1f}/{found[kind]:<7.1f}" for kind in kinds]
        total = found["lut"] + found["carry"]
        error = 100 * ((predicted["lut"] + predicted["carry"]) / total - 1) if total else 0
        print(" " * 19, *pairs, f"{error:+.0f} %", " ", line[:90], flush=True)


if __name__ == "__main__":
    main()
