#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cases that the package onnx has for each operator: they are imported, run with LibTorch and compared with the
results that onnx expects. A page of the documentation holds what comes out.

usage: nodes_test.py --tool BINARY --source ROOT --folder FOLDER [--python PYTHON] [--update] [--list WORD]
    --python: a Python with onnx, if neither this one nor that of .venv has it (exit code 77 if none has)
    --update: write the page;  --list WORD: print the cases whose state or operator is WORD
"""

import argparse
import collections
import os
import shutil
import subprocess
import sys
import textwrap
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PAGE = "docs/onnx_operators.md"
HEAD = """# Cases of ONNX operators

The package `onnx` has cases for each of its operators: a model of one node, inputs, and the results that it expects.
A case passes if the model is imported and gives these results within the case's own tolerance, with the same shapes
and types of elements; numbers of 16 bits may be two units in the last place off. *With constants* means that inputs
which say shapes, axes or sizes had to be given when the model was imported. Every other case is refused with a reason,
and no case gives other results.

The row *functions written out* has the cases in which the operator's own definition by other operators stands instead
of it. `tests/onnx/nodes/nodes_test.py --update` writes this page.

"""
OPS = """{named} ops of `mase list ops` have the name of an operator of ONNX, and {passed} of them ({share} %) have a
case that passes.{rest} The graphs of the cases that pass have {others} further ops, as `conv2d` for `Conv`.

"""


def has_onnx(python):
    command = [python, "-c", "import onnx"]
    return (
        bool(shutil.which(python)) and subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode == 0
    )


def cases():
    from batch_cases import batch_cases
    from graph_cases import graph_cases
    from more_cases import more_cases
    from onnx.backend.test.case.node import collect_testcases

    warnings.simplefilter("ignore")
    return [*collect_testcases(None), *more_cases(), *graph_cases(), *batch_cases()]


def operator_of(case):
    """The operator that a case is for. Expanded cases have the body of a function instead of one node."""
    nodes = case.model.graph.node
    if len(nodes) == 1 and not case.name.endswith("_expanded"):
        return nodes[0].op_type
    return "functions written out"


def tensors(values, prefix):
    import numpy
    from onnx import TensorProto, numpy_helper

    for i, value in enumerate(values):
        if isinstance(value, (numpy.ndarray, numpy.generic)):
            value = numpy_helper.from_array(numpy.asarray(value))
        if not isinstance(value, TensorProto):
            raise TypeError(f"a {type(value).__name__} is not a tensor")
        copy = TensorProto()
        copy.CopyFrom(value)
        copy.name = f"{prefix}_{i:03}"
        yield copy


def write(case, folder):
    """Writes the case; the reason if it cannot be written."""
    import numpy
    import onnx

    folder.mkdir(parents=True, exist_ok=True)
    inputs, outputs = case.data_sets[0]
    try:
        examples = getattr(case, "examples", ())
        values = [*tensors(inputs, "input"), *tensors(examples, "example"), *tensors(outputs, "output")]
    except TypeError as error:
        return str(error)
    onnx.save(case.model, folder / "model.onnx")
    graph = onnx.helper.make_graph([], "values", [], [], initializer=values)
    onnx.save(onnx.helper.make_model(graph), folder / "values.onnx")
    numpy.save(folder / "tolerance.npy", numpy.array([case.rtol, case.atol]))
    return ""


def run(tool, folders):
    """State, reason and ops of each case by its name."""
    found = {}
    rest = list(folders)
    while rest:
        words = [tool, *map(str, rest)]
        done = subprocess.run(words, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        lines = [line.split("\t") for line in done.stdout.splitlines()]
        for name, *result in lines:
            ended = ("failed", f"the program ended with {done.returncode}", "")
            found[name] = tuple(result) if len(result) == 3 else ended
        if not lines:
            raise SystemExit(f"{tool} printed nothing: {done.stderr}")
        rest = rest[len(lines) :]
    return found


def outcomes(tool, folder):
    """(operator, case, state, reason, ops) of all cases."""
    all_cases = cases()
    unwritten = {case.name: reason for case in all_cases if (reason := write(case, folder / case.name))}
    folders = [folder / case.name for case in all_cases if case.name not in unwritten]
    parts = min(8, os.cpu_count() or 1)
    with ThreadPoolExecutor(parts) as pool:
        results = {}
        for part in pool.map(lambda first: run(tool, folders[first::parts]), range(parts)):
            results.update(part)
    for case in all_cases:
        yield operator_of(case), case.name, *results.get(case.name, ("refused", unwritten.get(case.name), ""))


def covered(tool, found):
    """The paragraph on the ops that both have. Names of ONNX have capitals and no underscores."""
    from onnx import defs

    listed = subprocess.run([tool, "--ops"], capture_output=True, text=True, check=True).stdout.split()
    operators = {schema.name.lower() for schema in defs.get_all_schemas()}
    passing = [one for one in found if one[2] in ("passed", "constants")]
    good = {one[0].lower() for one in passing}
    seen = {op for one in passing for op in one[4].split()}
    named = {op: op.replace("_", "").lower() for op in listed if op.replace("_", "").lower() in operators}
    missing = [f"`{op}`" for op, operator in named.items() if operator not in good]
    passed = len(named) - len(missing)
    text = OPS.format(
        named=len(named),
        passed=passed,
        share=100 * passed // len(named),
        rest=f" {', '.join(missing)} lack one." if missing else "",
        others=len(seen - set(named)),
    )
    return "\n".join(textwrap.fill(one, 120, break_on_hyphens=False) for one in text.split("\n\n")) + "\n"


def page(tool, found, version):
    """The table of the documentation, which has the cases of the package alone."""
    found = [one for one in found if not one[1].startswith("more_")]
    rows = collections.defaultdict(collections.Counter)
    reasons = collections.defaultdict(collections.Counter)
    for operator, _, state, reason, _ in found:
        rows[operator][state] += 1
        if state == "refused":
            reasons[operator][reason.replace("|", "\\|")] += 1
    total = collections.Counter(state for _, _, state, *_ in found)
    lines = [
        f"The {len(found)} cases of onnx {version}: {total['passed']} pass as they are, {total['constants']} with "
        f"constants, and {total['refused']} are refused.\n\n"
        "| operator | cases | pass | with constants | refused | most common reason |\n|---|---|---|---|---|---|\n"
    ]
    for operator, counts in sorted(rows.items()):
        reason = reasons[operator].most_common(1)[0][0] if reasons[operator] else ""
        numbers = (sum(counts.values()), counts["passed"], counts["constants"], counts["refused"])
        lines.append(f"| {operator} | {' | '.join(map(str, numbers))} | {reason} |\n")
    return HEAD + covered(tool, found) + "".join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--python", default="")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--list", default="")
    options = parser.parse_args()
    for python in (sys.executable, options.python, str(options.source / ".venv/bin/python")):
        if python and has_onnx(python):
            break
    else:
        print("no Python here has onnx")
        return 77
    if python != sys.executable:
        return subprocess.run([python, "-B", __file__, *sys.argv[1:]], check=False).returncode
    import onnx

    found = list(outcomes(options.tool, options.folder))
    for operator, name, state, reason, _ in found:
        if state == "failed" or options.list in (state, operator):
            print(f"{state}\t{operator}\t{name}\t{reason}")
    print(collections.Counter(state for _, _, state, *_ in found))
    text = page(options.tool, found, onnx.__version__)
    path = options.source / PAGE
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    if options.update:
        path.write_text(text, encoding="utf-8")
    elif f"of onnx {onnx.__version__}:" in before and before != text:
        print(f"{PAGE} is not what the cases give; run nodes_test.py --update")
        return 1
    unread = [name for _, name, state, *_ in found if name.startswith("more_") and state == "refused"]
    if unread:
        print("refused: " + ", ".join(unread))
    return int(bool(unread) or any(state == "failed" for _, _, state, *_ in found))


if __name__ == "__main__":
    sys.exit(main())
