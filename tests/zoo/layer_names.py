# SPDX-License-Identifier: Apache-2.0
"""Which layers of a network have their names in an ONNX file of it, and why others do not.

folded        a batch norm whose factors the exporter multiplied into the layer in front of it
left out      a dropout or identity, which does nothing in eval mode
taken apart   a layer that the exporter wrote as several operators, as it does with cells of recurrent layers
called again  a further call of a module that has its name elsewhere; exporters name the first call only
not told      neither scopes nor tensors of the ONNX file have the layer's path
lost          all others: the file tells the path, and no layer has it
"""

import json
from collections import Counter
from pathlib import Path

import onnx
from zoo import mase

IDLE = ("dropout", "identity")  # the ops that compute nothing in eval mode
LOST = "lost"

Layers = dict[str, tuple[str, str]]  # path and op by the node's name


def layers_of(program: Path, file: Path, inputs: list[object]) -> tuple[Layers, Counter[str]]:
    """Path and op of the layers by their names, and how many nodes there are of each op."""
    nodes = json.loads(mase(program, "show", file, *inputs, "--format", "json"))["nodes"]
    ops = {node["name"]: node["metadata"]["common"]["mase_op"] for node in nodes}
    layers = {n["name"]: (n["target"], ops[n["name"]]) for n in nodes if n["op"] == "call_module"}
    return layers, Counter(ops.values())


def told_paths(model: onnx.ModelProto) -> set[str]:
    """The paths of modules that the tensors and nodes of a file state as a whole."""
    paths = {tensor.name.rpartition(".")[0] for tensor in model.graph.initializer}
    for node in model.graph.node:
        stated = [entry.value for entry in node.metadata_props if entry.key == "pkg.torch.onnx.name_scopes"]
        if stated:
            paths |= set(json.loads(stated[0].replace("'", '"'))[:-1])
        elif node.name.startswith("/"):
            paths.add(".".join(node.name.split("/")[1:-1]))
    return paths - {""}


def reasons_of(wanted: Layers, found: Layers, ops: Counter[str], told: set[str]) -> dict[str, str]:
    """For each layer that is not found: why. `ops` are those of all nodes, `told` the paths that the file states."""
    named = wanted.keys() & found.keys()
    left = ops - Counter(wanted[name][1] for name in named)
    paths = {found[name][0] for name in named}

    def reason(path: str, op: str) -> str:
        if not left[op] and op.startswith("batch_norm"):
            return "folded"
        if not left[op] and op in IDLE:
            return "left out"
        if path in paths:
            return "called again"
        if path not in told:
            return "not told"
        return LOST if left[op] else "taken apart"

    return {name: reason(*layer) for name, layer in wanted.items() if name not in named}
