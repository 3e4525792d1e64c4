#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a large ONNX file for onnx_import.py.

Usage: onnx_models.py transformer|chain FILE

transformer: 8 blocks of a vision transformer with matrices [in, out], as PyTorch's exporters store them (400 MB).
chain: 100,000 small nodes.
"""

import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

WIDTH, HIDDEN, BLOCKS, CHAIN = 1024, 4096, 8, 100_000


def save(path, nodes, tensors, sizes, result):
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, sizes)
    y = helper.make_tensor_value_info(result, TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "graph", [x], [y], tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10), path)


def write_transformer(path):
    nodes, tensors = [], []
    random = numpy.random.default_rng(0)

    def tensor(name, *shape):
        tensors.append(numpy_helper.from_array(random.standard_normal(shape, dtype=numpy.float32), name))
        return name

    def add(op, inputs, output, **attributes):
        nodes.append(helper.make_node(op, inputs, [output], **attributes))
        return output

    x = "x"
    for i in range(BLOCKS):
        block = f"blocks.{i}."
        weights = [tensor(block + "norm.weight", WIDTH), tensor(block + "norm.bias", WIDTH)]
        norm = add("LayerNormalization", [x, *weights], block + "norm", axis=-1)
        q, k, v = (
            add("MatMul", [norm, tensor(block + name + "_matrix", WIDTH, WIDTH)], block + name) for name in "qkv"
        )
        scores = add("MatMul", [q, add("Transpose", [k], block + "turned", perm=[0, 2, 1])], block + "scores")
        mixed = add("MatMul", [add("Softmax", [scores], block + "shares", axis=-1), v], block + "mixed")
        x = add(
            "Add", [x, add("MatMul", [mixed, tensor(block + "proj_matrix", WIDTH, WIDTH)], block + "proj")], block + "x"
        )
        hidden = add("MatMul", [x, tensor(block + "fc1_matrix", WIDTH, HIDDEN)], block + "fc1")
        out = add(
            "MatMul",
            [add("Gelu", [hidden], block + "gelu"), tensor(block + "fc2_matrix", HIDDEN, WIDTH)],
            block + "fc2",
        )
        x = add("Add", [x, out], block + "y")
    save(path, nodes, tensors, ["batch", 197, WIDTH], x)


def write_chain(path):
    names = ["x", *(f"v{i}" for i in range(CHAIN))]
    nodes = [helper.make_node("Relu", [a], [b]) for a, b in zip(names, names[1:])]
    save(path, nodes, [], ["batch", 4], names[-1])


if __name__ == "__main__":
    {"transformer": write_transformer, "chain": write_chain}[sys.argv[1]](sys.argv[2])
