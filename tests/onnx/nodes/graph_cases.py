# SPDX-License-Identifier: Apache-2.0
"""Cases of several nodes, in the text form of onnx. Expected values are those of onnx's reference implementation."""

from types import SimpleNamespace

import numpy as np


def values(*shape):
    """Different numbers between -2 and 2, in no order."""
    count = int(np.prod(shape))
    return (np.sin(np.arange(count) * 1.3 + len(shape)) * 2).astype(np.float32).reshape(shape)


def case(name, text, inputs, constants=None, opset=20):
    """The graph of `text` with these initializers."""
    import onnx
    from onnx import helper, numpy_helper, parser, reference

    graph = parser.parse_graph(text)
    for key, array in (constants or {}).items():
        graph.initializer.append(numpy_helper.from_array(array, key))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = min(10, onnx.IR_VERSION)
    feeds = dict(zip((one.name for one in graph.input), inputs, strict=True))
    outputs = reference.ReferenceEvaluator(model).run(None, feeds)
    return SimpleNamespace(name=f"more_{name}", model=model, data_sets=[(inputs, outputs)], rtol=1e-4, atol=1e-5)


def channels_last():
    """Images as TensorFlow has them: the transpose in front of the classifier goes into its weight."""
    net = """
    net (float[batch, 5, 6, 3] x) => (float[batch, 7] y) {
        t = Transpose<perm = [0, 3, 1, 2]>(x)
        c = Conv(t, kernel)
        back = Transpose<perm = [0, 2, 3, 1]>(c)
        flat = Reshape(back, shape)
        y = %s
    }"""
    constants = {"kernel": values(4, 3, 3, 3), "shape": np.int64([-1, 48]), "w": values(48, 7), "b": values(7)}
    turned = {**constants, "w": values(7, 48)}
    x = values(2, 5, 6, 3)
    yield case("channels_last", net % "MatMul(flat, w)", [x], constants)
    yield case("channels_last_gemm", net % "Gemm<transB = 1>(flat, w, b)", [x], turned)
    pair = "net (float[2, 3, 4, 5] x) => (float[2, 5, 4, 3] y) { %s }"
    text = "t = Transpose<perm = [0, 3, 1, 2]>(x) y = Transpose<perm = [0, 1, 3, 2]>(t)"
    yield case("transpose_twice", pair % text, [values(2, 3, 4, 5)])


def sizes():
    """Shapes that depend on the batch, as tf2onnx computes those of an einsum."""
    net = """
    net (float[batch, 6] x) => (float[rows, 3] y) {
        rows = Shape<end = 1>(x)
        more = Max(rows, rows)
        half = Constant<value_ints = [2, 3]>()
        least = Constant<value_ints = [1]>()
        some = Min(more, least)
        all = Mul(more, some)
        sizes = Concat<axis = 0>(all, half)
        parts = Reshape(x, sizes)
        y = ReduceSum<keepdims = 0>(parts, least)
    }"""
    one = case("largest_size", net, [values(2, 6)])
    one.examples = [values(4, 6)]
    yield one


def graph_cases():
    yield from channels_last()
    yield from sizes()
