#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the cost model of a hardware module with Yosys (synth_xilinx, xc7) over many parameters.

usage: scripts/bench/calibrate.py PROGRAM MODULE [FILE]

PROGRAM is bench_module_cost of a release build. Without FILE the parameters are those that the module
declares as measured (lib/hardware/design/modules). Each line of FILE is one set of parameters,
NAME=VALUE separated by blanks; a value is an integer, an unsigned Verilog constant (1280'h3f...) or a
memory image DEPTHxBITS, which is filled with seeded random words. Empty lines and lines starting with
# are skipped. The module is measured beside a long path that is subtracted: ABC spends LUTs on speed
wherever the longest path is at stake, which in a design is elsewhere.
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
LEVELS = 10  # LUTs behind each other in LONG_PATH
LONG_PATH = f"""
  logic [{5 * LEVELS}:0] long_from;
  (* keep *) logic long_to;
  function automatic logic long_path(input logic [{5 * LEVELS}:0] x);
    long_path = x[0];
    for (int i = 1; i <= {5 * LEVELS - 4}; i += 5)
      long_path = long_path ? (x[i] & x[i+1]) ^ (x[i+2] | (x[i+3] & x[i+4]))
                            : (x[i+1] | x[i+4]) ^ (x[i] & (x[i+2] ^ x[i+3]));
  endfunction
  always_ff @(posedge clk) begin
    long_from <= {{long_from[{5 * LEVELS - 1}:0], rst}};
    long_to <= long_path(long_from);
  end
endmodule"""
OWN_FILES = ("ecp5",)  # of other families
LUTS = {"RAM32M": 4, "RAM64M": 4, "RAM32X1D": 2, "RAM64X1D": 2, "RAM128X1D": 4}


def module_files(module):
    """The module's file and those of everything it may instantiate."""
    folders = [path for path in (ROOT / "hw_templates").iterdir() if path.is_dir() and path.name not in OWN_FILES]
    known = {path.stem: path for folder in folders for path in folder.glob("*.sv")}
    wanted, todo = {}, [module]
    while todo:
        name = todo.pop()
        if name in wanted:
            continue
        wanted[name] = known[name]
        words = set(re.findall(r"\bmase_\w+", known[name].read_text()))
        todo += words & known.keys()
    return sorted(str(path) for path in wanted.values())


def verilog_value(value, folder, name):
    """The value as `chparam` takes it; memory images are written to `folder`."""
    if re.fullmatch(r"-\d+", value):
        return f"64'sh{int(value) % (1 << 64):x}"
    image = re.fullmatch(r"(\d+)x(\d+)", value)
    if not image:
        return value
    depth, bits = int(image[1]), int(image[2])
    file = pathlib.Path(folder) / f"{name}.mem"
    draw = random.Random(1)
    digits = (bits + 3) // 4
    file.write_text("".join(f"{draw.getrandbits(bits):0{digits}x}\n" for _ in range(depth)))
    return f'"{file}"'


def with_long_path(module, folder):
    """The files of a module, its own one with the long path in it."""
    files = module_files(module)
    own = next(file for file in files if pathlib.Path(file).stem == module)
    text = pathlib.Path(own).read_text().rstrip().removesuffix("endmodule") + LONG_PATH
    changed = pathlib.Path(folder) / f"{module}.sv"
    changed.write_text(text)
    return " ".join([str(changed), *(file for file in files if file != own)])


def counted(files, module, values, folder):
    """Cells of a module by kind, as mase counts them."""
    stat = pathlib.Path(folder) / "stat.json"
    script = (
        f"read_verilog -sv -defer {files}; chparam {values} {module}; "
        f"synth_xilinx -family xc7 -noiopad -noclkbuf -flatten -top {module}; "
        f"tee -q -o {stat} stat -json"
    )
    subprocess.run(["yosys", "-q", "-p", script], check=True, stdout=subprocess.DEVNULL)
    text = stat.read_text()
    cells = json.loads(text[text.index("{") :])["design"]["num_cells_by_type"]
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


def measured(module, parameters, long_path):
    """Cells of a module by kind, without those of the long path."""
    with tempfile.TemporaryDirectory() as folder:
        values = " ".join(f"-set {name} {verilog_value(value, folder, name)}" for name, value in parameters.items())
        count = counted(with_long_path(module, folder), module, values, folder)
        count.subtract(long_path)
        return count


def measured_long_path():
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "long_path.sv"
        file.write_text("module long_path (input logic clk, input logic rst);" + LONG_PATH)
        return counted(file, "long_path", "", folder)


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    program, module = sys.argv[1:3]
    if len(sys.argv) == 4:
        sets = pathlib.Path(sys.argv[3]).read_text()
    else:
        sets = subprocess.run([program, module], check=True, capture_output=True, text=True).stdout
    long_path = measured_long_path()
    kinds = ["lut", "carry", "ff", "dsp", "bram"]
    print("predicted/measured ", *(f"{kind:>15}" for kind in kinds), "LUT+carry error")
    for line in sets.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        parameters = dict(item.split("=", 1) for item in line.split())
        told = subprocess.run([program, module, *line.split()], check=True, capture_output=True, text=True)
        predicted = json.loads(told.stdout)
        found = measured(module, parameters, long_path)
        pairs = [f"{predicted[kind]:7.1f}/{found[kind]:<7.1f}" for kind in kinds]
        total = found["lut"] + found["carry"]
        error = 100 * ((predicted["lut"] + predicted["carry"]) / total - 1) if total else 0
        print(" " * 19, *pairs, f"{error:+.0f} %", " ", line[:90], flush=True)


if __name__ == "__main__":
    main()
