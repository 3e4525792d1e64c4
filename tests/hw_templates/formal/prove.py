#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Proves properties of the handshake modules with Yosys, ABC's property directed reachability (an
unbounded proof) and z3, and shows on broken copies that the proofs can fail. An outcome is kept in the user's
cache folder under a hash of all that it follows from: sources, commands, versions of the tools."""

import argparse
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
TEMPLATES = HERE.parents[2] / "hw_templates"
LIMIT = 3600  # seconds a proof

# (harness, parameters): all by pdr.
PROOFS = [
    ("skid_proof", {"W": 8}),
    ("ready_proof", {}),
    ("fifo_proof", {"W": 1, "DEPTH": 1}),
    ("fifo_proof", {"W": 1, "DEPTH": 2}),
    ("fifo_proof", {"W": 1, "DEPTH": 4}),
    ("fifo_proof", {"W": 1, "DEPTH": 2, "BLOCK": 1}),
    ("fifo_proof", {"W": 1, "DEPTH": 3, "BLOCK": 1}),
    ("resize_proof", {"IN_LANES": 2, "OUT_LANES": 2}),
    ("resize_proof", {"IN_LANES": 2, "OUT_LANES": 1}),
    ("resize_proof", {"IN_LANES": 3, "OUT_LANES": 1}),
    ("resize_proof", {"IN_LANES": 5, "OUT_LANES": 1}),
    ("resize_proof", {"IN_LANES": 1, "OUT_LANES": 2}),
    ("resize_proof", {"IN_LANES": 1, "OUT_LANES": 3}),
    ("resize_proof", {"IN_LANES": 3, "OUT_LANES": 2}),
    ("resize_proof", {"IN_LANES": 5, "OUT_LANES": 2}),
    ("resize_proof", {"IN_LANES": 2, "OUT_LANES": 3}),
    ("resize_proof", {"IN_LANES": 2, "OUT_LANES": 5}),
    ("fork_join_proof", {"W": 1, "DEPTH": 2}),
    ("fork_join_proof", {"W": 2, "DEPTH": 3}),
    ("concat_proof", {"A_BEATS": 2, "B_BEATS": 1}),
    ("insert_proof", {}),
    ("insert_proof", {"BEFORE": 0, "BEATS": 1, "AFTER": 2}),
    ("insert_proof", {"BEFORE": 2, "BEATS": 1, "AFTER": 0}),
    ("slice_proof", {}),
    ("repeat_proof", {}),
    ("repeat_proof", {"COUNT": 3, "LANES": 1}),
    ("repeat_proof", {"COUNT": 2, "W": 2}),
    ("embedding_proof", {}),
    ("embedding_proof", {"ROWS": 3, "BEATS": 1}),
    ("embedding_proof", {"ROWS": 4, "BEATS": 1}),
    ("embedding_proof", {"ROWS": 1, "BEATS": 3}),
    ("row_reduce_proof", {}),
    ("row_reduce_proof", {"ISIGNED": 0, "LANES": 3}),
    ("row_reduce_proof", {"OP": 2, "OW": 2, "LANES": 3}),
    ("row_reduce_proof", {"N": 3, "LANES": 1}),
    ("row_reduce_proof", {"OP": 1, "OW": 4}),
    ("row_reduce_proof", {"OP": 1, "OW": 4, "ISIGNED": 0, "N": 1, "LANES": 3}),
    ("argmax_proof", {}),
    ("argmax_proof", {"LANES": 1}),
    ("argmax_proof", {"LANES": 3, "N": 1, "ISIGNED": 0}),
    ("argmax_proof", {"LANES": 3, "IW": 1, "OW": 3}),
    ("cumulative_sum_proof", {}),
    ("cumulative_sum_proof", {"N": 3, "BEATS": 1, "LANES": 2, "ISIGNED": 0}),
    ("cumulative_sum_proof", {"BEATS": 3}),
    ("less_proof", {}),
    ("less_proof", {"W": 1}),
    ("multiply_stage_proof", {}),
    ("multiply_stage_proof", {"W": 7}),
    ("multiply_stage_proof", {"AW": 4, "W": 8}),  # in LUTs
    *[("dot_proof", {"SIMD": lanes, "AW": 2, "BW": 2, "W": 7}) for lanes in (1, 2, 3, 4, 5, 6, 7)],
    *[("dot_proof", {"SIMD": lanes, "AW": 1, "BW": 1, "W": 5}) for lanes in (8, 9)],
    ("dot_proof", {"SIMD": 4, "W": 6, "PRODUCT_STAGES": 1}),
    ("dot_proof", {"SIMD": 7, "AW": 1, "BW": 1, "PRODUCT_STAGES": 2}),
    ("dot_packed_proof", {"PITCH": 5}),
    ("dot_packed_proof", {"PITCH": 4, "KNOWN": 1}),
    ("dot_packed_proof", {"PITCH": 3, "KNOWN": 2}),
    ("dot_packed_proof", {"PITCH": 4, "KNOWN": 1, "COUNT": 3}),
    ("dot_packed_proof", {"PITCH": 5, "KNOWN": 1, "ASIGNED": 0, "SIMD": 3}),
    *[
        ("decode_proof", {"W": width, "SIGNED": signed, "ZERO": zero})
        for width in range(1, 9)
        for signed in (0, 1)
        for zero in (0, 1)
        if width > signed * zero  # a sign and a zero are two bits
    ],
    ("dot_float_proof", {}),
    ("dot_float_proof", {"SIMD": 1, "TERM_STAGES": 2}),
    ("dot_float_proof", {"SIMD": 1, "AW": 3, "AFLOAT": 1, "AN": 3, "WW": 5, "WFLOAT": 1, "WN": 9, "W": 13}),
    ("dot_float_proof", {"SIMD": 1, "AW": 5, "AFLOAT": 2, "AN": 6, "WW": 4, "WN": 5, "TERM_STAGES": 2, "W": 11}),
    ("dot_float_proof", {"SIMD": 1, "AW": 5, "AFLOAT": 2, "AN": 6, "TERM_STAGES": 1}),
    ("dot_float_proof", {"AW": 3, "AFLOAT": 0, "AN": 4, "WW": 3, "WFLOAT": 1, "WN": 3, "W": 8}),
    ("dot_float_proof", {"SIMD": 1, "AW": 4, "AFLOAT": -1, "AN": 4}),
    ("dot_float_proof", {"SIMD": 1, "AW": 4, "AFLOAT": -1, "AN": 4, "WFLOAT": 0, "WN": 8}),
    ("dot_float_proof", {"AW": 2, "AFLOAT": -1, "AN": 2, "WW": 2, "WFLOAT": 0, "WN": 2, "W": 5}),
    ("dot_float_proof", {"AW": 2, "AFLOAT": -1, "AN": 2, "WW": 1, "WFLOAT": 0, "WZERO": 0, "WN": 2, "W": 5}),
    *[
        (
            "dot_float_proof",
            {"AW": 1, "AFLOAT": 0, "AZERO": 0, "AN": 2, "WW": 1, "WFLOAT": 0, "WZERO": 0, "WN": 2, "SIMD": lanes},
        )
        for lanes in (1, 4, 7, 8, 9)
    ],
    ("accumulate_proof", {"W": 1}),
    ("accumulate_proof", {"W": 5}),
    ("accumulate_proof", {"W": 5, "HAS_CARRY": 1}),
    ("linear_proof", {"SF": 2, "NF": 2, "OWED": 6}),
    ("matrix_memory_proof", {"SF": 2, "NF": 3}),
    ("matrix_memory_proof", {}),
    ("matrix_memory_proof", {"SETS": 3}),
    ("matrix_memory_proof", {"NF": 2, "SETS": 2, "INTERLEAVED": 1}),
    ("matrix_memory_proof", {"SF": 2, "SIMD": 2, "PE": 2, "TRANSPOSED": 1}),
    ("matrix_memory_proof", {"SETS": 2, "SIMD": 2, "PE": 2, "INTERLEAVED": 1}),
    ("matrix_memory_proof", {"SETS": 2, "SIMD": 2, "PE": 2, "TRANSPOSED": 1, "INTERLEAVED": 1}),
    ("matmul_flow_proof", {"SF": 2, "NF": 2}),
    ("matmul_flow_proof", {"SETS": 2, "ROUNDS": 2}),
    ("matmul_proof", {"SF": 2}),
    ("matmul_proof", {"NF": 2}),
    ("matmul_proof", {"SETS": 2, "REPEAT": 3}),
    ("matmul_proof", {"REPEAT": 2, "ROUNDS": 2}),
    ("window_proof", {"H": 1, "W": 3, "K": 1, "S": 2, "P": 0}),
    ("window_proof", {"H": 2, "W": 2, "K": 2, "S": 1, "P": 0}),
    ("window_proof", {"H": 1, "W": 2, "K": 2, "S": 1, "D": 1, "P": 0, "A": 1}),
    ("window_proof", {"H": 2, "W": 1, "K": 1, "S": 1, "P": 0, "A": 1}),
    ("window_flow_proof", {"H": 2, "W": 2}),
    ("window_parallel_proof", {"H": 2, "W": 2}),
    ("window_parallel_proof", {"H": 2, "W": 2, "CF": 2}),
    ("window_parallel_proof", {"H": 2, "W": 1, "KW": 1, "CF": 2}),
    ("window_parallel_proof", {"H": 1, "W": 2, "KH": 1, "CF": 3}),
    ("window_parallel_proof", {"H": 1, "W": 1, "KH": 1, "CF": 3, "P": 1}),
    ("gather_proof", {}),
    ("square_root_proof", {}),
    ("square_root_proof", {"IW": 6, "SHIFT": 0, "ADDEND": 0}),
    ("quantize_proof", {}),
    ("quantize_proof", {"ISIGNED": 0, "COUNT": 3, "THRESHOLDS": 0x72F1, "LEVELS": 0o7421}),
    ("quantize_proof", {"COUNT": 3, "CHANNELS": 2, "THRESHOLDS": 0x15872F1, "LEVELS": 0o7421}),
    ("divide_proof", {}),
    ("divide_proof", {"ASIGNED": 0, "BSIGNED": 0, "BSHIFT": 1}),
    ("block_shift_proof", {}),
    ("block_shift_proof", {"ASIGNED": 0, "AW": 3, "PLACES": 1, "OW": 2}),
    ("block_shift_proof", {"AW": 3, "BW": 3, "PLACES": -1}),
    ("block_shift_proof", {"AW": 2, "RIGHT": 0}),
]

# (harness, parameters, module, correct text, broken text): must be refuted.
MUTANTS = [
    ("skid_proof", {"W": 1}, "mase_skid", "in_ready ? in_data : spare", "in_data"),
    ("ready_proof", {}, "ecp5_mase_ready", "ready && !in_valid", "ready"),
    ("fifo_proof", {"W": 1, "DEPTH": 2}, "mase_fifo", "!out_valid || out_ready", "1'b1"),
    ("resize_proof", {"IN_LANES": 2, "OUT_LANES": 1}, "mase_stream_resize", "enable && last", "last"),
    ("resize_proof", {"IN_LANES": 3, "OUT_LANES": 2}, "mase_stream_regroup", "(enable && select !=", "(select !="),
    ("resize_proof", {"IN_LANES": 2, "OUT_LANES": 3}, "mase_stream_regroup", "!completes || enable", "1'b1"),
    ("fork_join_proof", {"W": 1, "DEPTH": 2}, "mase_stream_fork", "in_valid && in_ready", "in_valid"),
    ("fork_join_proof", {"W": 1, "DEPTH": 2}, "mase_binary", "left_valid && right_valid", "left_valid"),
    ("concat_proof", {"A_BEATS": 2, "B_BEATS": 1}, "mase_concat", "enable && !second", "enable"),
    ("insert_proof", {}, "mase_insert", "(full || after)", "(full || constant)"),
    ("insert_proof", {}, "mase_insert", "enable && !constant", "enable"),
    ("repeat_proof", {}, "mase_repeat", "BEATS - 1)", "BEATS - 2)"),
    ("repeat_proof", {}, "mase_repeat", "full && enable", "full"),
    ("embedding_proof", {}, "mase_embedding", "BEATS - 1)", "BEATS - 2)"),
    ("embedding_proof", {}, "mase_embedding", "if (enable) valid", "valid"),
    ("embedding_proof", {"ROWS": 3, "BEATS": 1}, "mase_embedding", "ROWS < 2 ** IW", "0"),
    ("row_reduce_proof", {"N": 3, "LANES": 1}, "mase_row_reduce", "(N - 1)", "(N - 2)"),
    ("row_reduce_proof", {}, "mase_row_reduce", "given && in_ready", "given"),
    ("row_reduce_proof", {}, "mase_row_reduce", "first || beat > result", "beat > result"),
    ("row_reduce_proof", {"OP": 1, "OW": 4}, "mase_row_reduce", "first ? '0", "1'b0 ? '0"),
    (
        "accumulate_proof",
        {"W": 5, "HAS_CARRY": 1},
        "mase_accumulate",
        "$signed({high, low, carry})",
        "$signed({high, low, 1'b0})",
    ),
    ("argmax_proof", {}, "mase_argmax", "first || value[IW-1:0] > best", "first || value[IW-1:0] >= best"),
    ("argmax_proof", {"LANES": 3, "N": 1}, "mase_argmax", "IW'(1) << (IW - 1)", "'0"),
    ("argmax_proof", {"LANES": 3, "IW": 1, "OW": 3}, "mase_argmax", "(N - 1) * LANES)", "N - 1)"),
    ("cumulative_sum_proof", {}, "mase_cumulative_sum", "first <= last", "first <= 1'b0"),
    ("cumulative_sum_proof", {"BEATS": 3}, "mase_cumulative_sum", "mem[next_beat]", "mem[beat]"),
    ("less_proof", {}, "ecp5_mase_less", "{a[W-1], a}", "{1'b0, a}"),
    ("multiply_stage_proof", {}, "ecp5_mase_multiply_stage", ".B3(whole_b[3])", ".B3(whole_b[2])"),
    (
        "dot_proof",
        {"SIMD": 7, "AW": 1, "BW": 1},
        "ecp5_mase_dot_multiply",
        "PRODUCT_STAGES + STAGES - LEVELS",
        "PRODUCT_STAGES",
    ),
    ("dot_packed_proof", {"PITCH": 4, "KNOWN": 0}, "mase_dot_packed", "KNOWN == 0", "1"),
    ("dot_packed_proof", {"PITCH": 5}, "mase_dot_packed", "carry[f] = over[f]", "carry[f] = 1'b0"),
    ("dot_packed_proof", {"PITCH": 3, "KNOWN": 2}, "mase_dot_packed", "PITCH+:KNOWN] - above", "PITCH+:KNOWN]"),
    ("decode_proof", {"W": 5}, "mase_float_parts", "| ~hidden", ""),
    ("decode_proof", {"W": 4}, "mase_decode", "negative & below", "negative"),
    ("decode_proof", {"W": 7}, "mase_decode", "OW'(negative)", "OW'(1'b0)"),
    ("dot_float_proof", {}, "mase_dot_float", "one_from = negative[LANE-1]", "one_from = 1'b0"),
    ("dot_float_proof", {}, "mase_code_product", "exponent > 1", "exponent > 2"),
    ("dot_float_proof", {"AW": 5}, "mase_float_row", "TERM'(shifted >> OFFSET)", "TERM'(shifted)"),
    ("dot_float_proof", {"AW": 4, "AFLOAT": 0, "AN": 8, "W": 14}, "mase_float_term", "whole << 1", "whole"),
    (
        "dot_float_proof",
        {"AW": 1, "AFLOAT": 0, "AZERO": 0, "AN": 2, "WW": 1, "WFLOAT": 0, "WZERO": 0, "WN": 2, "SIMD": 6},
        "mase_dot_binary",
        "i < SIMD + EQUAL",
        "1'b0",
    ),
    ("linear_proof", {"SF": 2, "NF": 2, "OWED": 6}, "mase_linear", "enable && pass == '0", "enable"),
    ("matrix_memory_proof", {"SF": 2, "NF": 3}, "mase_matrix_memory", "BLOCKS - 1);", "BLOCKS - 2);"),
    ("matrix_memory_proof", {"SF": 2, "NF": 3}, "mase_matrix_memory", ".read,", ".read(1'b1),"),
    (
        "matrix_memory_proof",
        {"SF": 2, "NF": 3},
        "mase_matrix_memory",
        "write_half <= half",
        "write_half <= half ^ fills",
    ),
    ("matrix_memory_proof", {"SF": 2, "NF": 3}, "mase_matrix_memory", "fills && !done", "fills"),
    (
        "matrix_memory_proof",
        {"NF": 2, "SETS": 2, "INTERLEAVED": 1},
        "mase_matrix_memory",
        "INTERLEAVED != 0 ||",
        "1'b0 ||",
    ),
    ("matmul_flow_proof", {"SF": 2, "NF": 2}, "mase_matmul", "SF - 1);", "SF - 2);"),
    ("matmul_flow_proof", {}, "mase_matmul", "enable && there;", "enable;"),
    ("matmul_flow_proof", {"SETS": 2, "ROUNDS": 2}, "mase_matmul", "set_end && last_set", "set_end"),
    ("matmul_proof", {}, "mase_matmul", "if (enable) x", "x"),
    ("matmul_proof", {"SF": 2}, "mase_matmul", "row_start(column == '0)", "row_start(1'b1)"),
    ("matmul_proof", {"NF": 2}, "mase_matmul", "&& pass == '0", ""),
    ("matmul_proof", {"SETS": 2, "REPEAT": 3}, "mase_matmul", "if (set_end) set_word", "if (row_end) set_word"),
    ("window_flow_proof", {"H": 2, "W": 2}, "mase_window", "go = !ahead[GW-1]", "go = 1'b1"),
    (
        "window_parallel_proof",
        {"H": 2, "W": 1, "KW": 1, "CF": 2},
        "mase_window_parallel",
        "first && slack != '0",
        "1'b0",
    ),
    (
        "window_parallel_proof",
        {"H": 1, "W": 2, "KH": 1, "CF": 3},
        "mase_window_parallel",
        "DEPTH = GAP - 1",
        "DEPTH = GAP",
    ),
    ("gather_proof", {}, "mase_gather", "!full[1]", "1'b1"),
    ("gather_proof", {"START": 1}, "mase_gather", "full != '0 ||", "1'b0 ||"),
    ("square_root_proof", {}, "mase_square_root", "root), 2'b01}", "root), 2'b00}"),
    ("quantize_proof", {}, "mase_quantize", "value >= word[IW-1:0]", "value > word[IW-1:0]"),
    ("quantize_proof", {}, "mase_quantize", "word[IW] && ", ""),
    (
        "divide_proof",
        {"ASIGNED": 0, "BSIGNED": 0, "BSHIFT": 1},
        "mase_divide",
        ", remainder[QW*DW+:DW] != '0",
        ", 1'b0",
    ),
    ("divide_proof", {}, "mase_divide", "| BW'(a == '0)", ""),
    ("block_shift_proof", {}, "mase_block_shift", "fine_rest = rest;", "fine_rest = 1'b0;"),
]

# Parameters of requantise_proof: by z3, one step, all inputs.
REQUANTISE = [
    {"IW": 24, "SHIFT": 8},
    {"IW": 24, "SHIFT": 8, "ROUND": 0, "LOW": 0, "HIGH": 255},
    {"IW": 16, "SHIFT": 0, "DIVISOR": 49, "ROUND": 0},
    {"IW": 12, "SHIFT": 2, "DIVISOR": 9},
    {"IW": 16, "SHIFT": 4, "LOW": -127},
    {"IW": 16, "SHIFT": 3, "LOW": -100, "HIGH": 96},
    {"IW": 16, "SHIFT": 3, "LOW": -99, "HIGH": 97},
    {"IW": 8, "SHIFT": 10, "LOW": -3, "HIGH": 5},
    {"IW": 10, "SHIFT": -2, "LOW": -100, "HIGH": 99},
    {"IW": 24, "SHIFT": 8, "ROUND": 2},
    {"IW": 16, "SHIFT": 3, "ROUND": 2, "LOW": -100, "HIGH": 96},
    {"IW": 16, "SHIFT": 3, "ROUND": 2, "LOW": -90, "HIGH": -4},
    {"IW": 12, "SHIFT": 2, "DIVISOR": 9, "ROUND": 2},
    {"IW": 10, "SHIFT": -2, "ROUND": 2, "LOW": -100, "HIGH": 99},
    {"IW": 12, "SHIFT": 3, "DIVISOR": 12, "LOW": 3, "HIGH": 77},
]
REQUANTISE_MUTANT = ("mase_round", "whole && divides", "whole")

TO_AIGER = """
chparam {set_parameters} {top}
hierarchy -check -top {top}
prep -flatten -top {top}
memory_map; async2sync; chformal -cover -remove; chformal -assume -early
setundef -undriven -anyseq; opt -full; techmap; dffunmap; formalff -clk2ff; simplemap
abc -g AND -fast
write_aiger -I -B -zinit -no-startoffset proof.aig
"""


PDR = f"read_aiger proof.aig; fold; strash; scorr; pdr -T {LIMIT}"

TO_SMT2 = """
chparam {set_parameters} {top}
hierarchy -check -top {top}
prep -flatten -top {top}
opt -full
write_smt2 -wires proof.smt2
"""

# For each engine: what Yosys writes, the command that reads it, and what it says of a proof and of a refutation.
# z3 is for a module without state: one step.
ENGINES = {
    "pdr": (TO_AIGER, ["yosys-abc", "-c", PDR], "Property proved", "was asserted in frame"),
    "z3": (
        TO_SMT2,
        ["yosys-smtbmc", "-s", "z3", "-t", "1", "--noprogress", "proof.smt2"],
        "Status: PASSED",
        "Status: FAILED",
    ),
}
IMAGES = {"weights.mem": "".join(f"{word:x}\n" for word in range(4)), "places.mem": "1\n0\n"}


def set_words(parameters):
    """Options of chparam, which reads no minus sign."""
    return " ".join(f"-set {key} 32'sb{value & 0xFFFFFFFF:032b}" for key, value in parameters.items())


def run(command, folder):
    """Status and output of a command."""
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return result.returncode, result.stdout + result.stderr


def all_sources():
    """The texts of modules and harnesses. Those of an FPGA family stand beside the common ones, as ecp5_NAME."""
    texts = {}
    for path in [*TEMPLATES.glob("*/*.sv"), *HERE.glob("*.sv")]:
        prefix = "ecp5_" if path.parent.name == "ecp5" else ""
        texts[prefix + path.stem] = path.read_text().replace("module mase_", f"module {prefix}mase_")
    return texts


def sources_of(top, mutant, texts):
    """Files of a harness and of all modules that it names, one broken when asked to."""
    files = {module: name for name, text in texts.items() for module in re.findall(r"^module (\w+)", text, re.M)}
    names, found = [top], {}
    while names:
        name = files.get(names.pop())
        if name in found or name is None:
            continue
        text = texts[name]
        names += re.findall(r"\w+", text)
        if mutant and name == mutant[0]:
            assert mutant[1] in text, f"{name} has no {mutant[1]}"
            text = text.replace(mutant[1], mutant[2])
        found[name] = text
    assert not mutant or mutant[0] in found, f"{top} has no {mutant[0]}"
    return {f"{name}.sv": text for name, text in sorted(found.items())}


def prove(engine, top, parameters, sources):
    """(True, False or None when undecided, log)."""
    to_file, command, proved, refuted = ENGINES[engine]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for file, text in {**sources, **IMAGES}.items():
            (folder / file).write_text(text)
        script = "read_verilog -sv -formal -defer " + " ".join(sources)
        script += to_file.format(set_parameters=set_words(parameters), top=top)
        (folder / "proof.ys").write_text(script)
        status, log = run(["yosys", "-q", "proof.ys"], folder)
        if status == 0:
            log = run(command, folder)[1]
    if re.search(refuted, log):
        return False, log
    return (True if re.search(proved, log) else None), log


def tools():
    """Which Yosys, ABC and z3 there are; ABC and smtbmc do not say which they are."""
    versions = [run(words, None)[1] for words in (["yosys", "-V"], ["z3", "--version"])]
    programs = [pathlib.Path(shutil.which(tool)).read_bytes() for tool in ("yosys-abc", "yosys-smtbmc")]
    return [*versions, *(hashlib.sha256(program).hexdigest() for program in programs)]


class Outcomes:
    """Outcomes of earlier proofs: a file each, named by the hash of what they follow from."""

    def __init__(self, again):
        base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
        self.folder, self.again, self.tools = pathlib.Path(base) / "mase/proofs", again, tools()

    def path(self, *proof):
        return self.folder / hashlib.sha256(repr((ENGINES, IMAGES, self.tools, proof)).encode()).hexdigest()

    def prove(self, *proof):
        """As prove(), and whether the outcome was known."""
        path = self.path(*proof)
        if not self.again and path.exists():
            return {"proved": True, "refuted": False}[path.read_text()], "", True
        outcome, log = prove(*proof)
        if outcome is not None:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            whole = path.with_suffix(f".{os.getpid()}")
            whole.write_text("proved" if outcome else "refuted")
            whole.rename(path)
        return outcome, log, False


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("filter", nargs="?", default="", help="only harnesses with this in them")
    parser.add_argument("--log", action="store_true", help="print the tools' output")
    parser.add_argument("--again", action="store_true", help="do not believe earlier proofs")
    arguments = parser.parse_args()
    for tool in ("yosys", "yosys-abc", "yosys-smtbmc", "z3"):
        if not shutil.which(tool):
            sys.exit(f"{tool} is not in PATH; install the packages yosys and z3")
    failed = 0
    outcomes, texts = Outcomes(arguments.again), all_sources()
    print(f"{'property':66} {'engine':8} {'seconds':>7}  result")
    jobs = [("pdr", top, parameters, None) for top, parameters in PROOFS]
    jobs += [("z3", "requantise_proof", parameters, None) for parameters in REQUANTISE]
    jobs += [("pdr", top, parameters, change) for top, parameters, *change in MUTANTS]
    jobs.append(("z3", "requantise_proof", REQUANTISE[-1], REQUANTISE_MUTANT))
    for engine, top, parameters, mutant in jobs:
        if arguments.filter not in top:
            continue
        start = time.time()
        outcome, log, known = outcomes.prove(engine, top, parameters, sources_of(top, mutant, texts))
        label = top + " " + " ".join(f"{key}={value}" for key, value in parameters.items())
        label += " (broken)" if mutant else ""
        good = outcome is (mutant is None)
        failed += not good
        word = {True: "proved", False: "refuted", None: "undecided"}[outcome]
        word += " before" if known else ""
        word += "" if good else ": FAILED"
        print(f"{label:66} {engine:8} {time.time() - start:7.1f}  {word}", flush=True)
        if arguments.log or not good:
            print(log[-4000:])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
