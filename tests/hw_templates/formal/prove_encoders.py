#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Proves with Yosys and ABC, for every input, that mase_quantize with the parameters that a design gives it rounds to an
element format as docs/formats.md defines the format.

usage: prove_encoders.py PROGRAM [FILTER]

PROGRAM is test_hw_templates, which writes the parameters; FILTER is a part of a format's name."""

import argparse
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import prove

TO_AIGER = prove.TO_AIGER.replace("chparam {set_parameters} {top}\n", "")
CYCLES = 16  # a search of at most 8 stages, reset and the skid
COMMAND = ["yosys-abc", "-c", f"read_aiger proof.aig; fold; strash; bmc3 -F {CYCLES} -T {prove.LIMIT}"]
prove.ENGINES["encoder"] = (TO_AIGER, COMMAND, f"No output asserted in {CYCLES} frames", "was asserted in frame")

FLOAT, POWER, SIGN, BEYOND, PLANES = range(5)


def minifloat(mantissa, bias, largest, rounding=1):
    return {"KIND": FLOAT, "M": mantissa, "LOWEST": 1 - bias, "ROUND": rounding, "LARGEST": largest}


# Section 2 of docs/formats.md. LARGEST as a number.
DEFINITIONS = {
    "fp8_e4m3()": minifloat(3, 7, 448),
    "fp8_e4m3(rounding=floor)": minifloat(3, 7, 448, 0),
    "fp8_e5m2()": minifloat(2, 15, 57344),
    "fp6_e3m2()": minifloat(2, 3, 28),
    "fp6_e2m3()": minifloat(3, 1, 7.5),
    "fp4_e2m1()": minifloat(1, 1, 6),
    "fp4_e2m1(rounding=nearest_away)": minifloat(1, 1, 6, 2),
    "minifloat_ieee(5, 2)": minifloat(2, 1, 2**2 * 1.75),
    "minifloat_ieee(8, 3)": minifloat(4, 3, 2**4 * (2 - 2**-4)),
    # Without a hidden bit the leading one is the first of the m bits: exponents are one less.
    "minifloat_denorm(6, 3)": {"KIND": FLOAT, "M": 1, "LOWEST": -4, "ROUND": 1, "LARGEST": 2**4 * (1 - 2**-2)},
    "log(4)": {"KIND": POWER, "LOWEST": -2, "LARGEST": 2**4},
    "log(5)": {"KIND": POWER, "LOWEST": -6, "LARGEST": 2**8},
    "binary()": {"KIND": SIGN},
    "ternary(threshold=0.375)": {"KIND": BEYOND, "LARGEST": 0.375},
    "binary_residual(2, means=[0.5, 0.25])": {"KIND": PLANES, "LARGEST": 0.5},
}
MUTANT = ("mase_quantize", "value >= word[IW-1:0]", "value > word[IW-1:0]")


def encoders(program):
    """(format, parameters) of each encoder; words in hexadecimal."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "encoders"
        environment = {**os.environ, "MASE_ENCODERS": str(file)}
        subprocess.run([program, "[.encoders]"], check=True, capture_output=True, env=environment)
        for line in file.read_text().splitlines():
            name, words = line.split("|")
            yield name, dict(word.split("=") for word in words.split())


def top_of(name, words):
    """A harness with the parameters of an encoder and those of its format's definition."""
    width, frac, result_frac = (int(words[key]) for key in ("IW", "FRAC", "OFRAC"))
    definition = dict(DEFINITIONS[name])
    unit = max(frac, result_frac, 1 - definition.get("LOWEST", 0), 3)
    largest = int(definition.get("LARGEST", 1) * 2**unit)
    bits = max(width + unit - frac, largest.bit_length()) + 3
    root = math.isqrt(2 << 2 * (bits - 1))
    definition.pop("LARGEST", None)
    numbers = {**{key: words[key] for key in ("IW", "ISIGNED", "FRAC", "OW", "OFRAC", "COUNT")}, **definition}
    texts = [f".{key}({value})" for key, value in numbers.items()]
    count, out = int(words["COUNT"]), int(words["OW"])
    texts.append(f".THRESHOLDS({count * (width + 1)}'h{words['THRESHOLDS']})")
    texts.append(f".LEVELS({(count + 1) * out}'h{words['LEVELS']})")
    texts += [f".U({unit})", f".W({bits})", f".LARGEST({bits}'h{largest:x})", f".ROOT({bits}'h{root:x})"]
    ports = f"input logic clk, input logic [{width - 1}:0] first"
    instance = "encoder_proof #(" + ", ".join(texts) + ") proof (clk, first)"
    return f"module encoder_top ({ports});\n  {instance};\nendmodule\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("filter", nargs="?", default="")
    arguments = parser.parse_args()
    outcomes, texts, failed = prove.Outcomes(False), prove.all_sources(), 0
    jobs = [(name, words, None) for name, words in encoders(arguments.program) if arguments.filter in name]
    jobs.append((*jobs[0][:2], MUTANT))
    print(f"{'format':40} {'bits':>4} {'fraction':>8} {'levels':>6} {'seconds':>7}  result")
    for name, words, mutant in jobs:
        sources = prove.sources_of("encoder_proof", mutant, texts)
        sources["encoder_top.sv"] = top_of(name, words)
        start = time.time()
        outcome, log, known = outcomes.prove("encoder", "encoder_top", {}, sources)
        good = outcome is (mutant is None)
        failed += not good
        word = {True: "proved", False: "refuted", None: "undecided"}[outcome] + (" before" if known else "")
        label = name + (" (broken)" if mutant else "")
        levels = int(words["COUNT"]) + 1
        print(
            f"{label:40} {words['IW']:>4} {words['FRAC']:>8} {levels:6} {time.time() - start:7.1f}  "
            f"{word}{'' if good else ': FAILED'}",
            flush=True,
        )
        if not good:
            print(log[-3000:])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
