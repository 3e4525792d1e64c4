# SPDX-License-Identifier: Apache-2.0
"""Files for one batch that run with another one: the results are those of the file for each row by itself."""

from types import SimpleNamespace

import numpy as np
from graph_cases import case, values

ROWS = 5


def rows_case(name, text, shape, constants):
    """The graph of `text` for the batch 1, with more rows. The reference implementation runs them one by one."""
    rows = values(ROWS, *shape)
    single = [case(name, text, [rows[i : i + 1]], constants, opset=17) for i in range(ROWS)]
    results = [one.data_sets[0][1] for one in single]
    together = [np.concatenate(of_rows) for of_rows in zip(*results, strict=True)]
    return SimpleNamespace(
        name=f"more_batch_{name}",
        model=single[0].model,
        data_sets=[([rows], together)],
        examples=[values(3, *shape)],
        rtol=1e-4,
        atol=1e-5,
    )


def images():
    net = """
    net (float[1, 2, 6, 6] x) => (float[1, 3] y) {
        c = Conv<pads = [1, 1, 1, 1]>(x, kernel)
        p = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(c)
        flat = %s
        y = Gemm(flat, w)
    }"""
    constants = {"kernel": values(4, 2, 3, 3), "w": values(36, 3)}
    yield rows_case("flatten", net % "Flatten(p)", (2, 6, 6), constants)
    for name, sizes in (("rest", [1, -1]), ("sizes", [1, 36]), ("copied", [0, -1]), ("first", [-1, 36])):
        yield rows_case(f"view_{name}", net % "Reshape(p, s)", (2, 6, 6), {**constants, "s": np.int64(sizes)})


def transformer():
    """A class token, and attention whose heads views and transposes make. The products of the projections are those of
    matrices with the batch and the tokens together in one dimension, as TensorFlow has them."""
    net = """
    net (float[1, 4, 8] x) => (float[1, 8] y) {
        token = Expand(class, one)
        tokens = Concat<axis = 1>(token, x)
        placed = Add(tokens, place)
        matrix = Reshape(placed, rows)
        all = MatMul(matrix, w)
        parts = Reshape(all, heads)
        q, k, v = Split<axis = 2>(parts, thirds)
        qs = Reshape(q, single)  ks = Reshape(k, single)  vs = Reshape(v, single)
        qt = Transpose<perm = [0, 2, 1, 3]>(qs)
        kt = Transpose<perm = [0, 2, 3, 1]>(ks)
        vt = Transpose<perm = [0, 2, 1, 3]>(vs)
        scores = MatMul(qt, kt)
        some = Softmax<axis = -1>(scores)
        none = IsNaN(some)
        shares = Where(none, nothing, some)
        mixed = MatMul(shares, vt)
        back = Transpose<perm = [0, 2, 1, 3]>(mixed)
        joined = Reshape(back, rows_again)
        y = Gather<axis = 1>(joined, first)
    }"""
    constants = {
        "class": values(1, 1, 8),
        "one": np.int64([1, 1, 1]),
        "place": values(1, 5, 8),
        "rows": np.int64([5, 8]),
        "w": values(8, 24),
        "heads": np.int64([1, 5, 3, 2, 4]),
        "thirds": np.int64([1, 1, 1]),
        "single": np.int64([1, 5, 2, 4]),
        "rows_again": np.int64([1, 5, 8]),
        "first": np.int64(0),
        "nothing": np.float32(0),
    }
    yield rows_case("transformer", net, (4, 8), constants)


def steps_first():
    """Attention as torch.nn.MultiheadAttention computes it: steps before the batch, heads and the batch together."""
    net = """
    net (float[1, 4, 6] x) => (float[1, 4, 6] y) {
        steps = Transpose<perm = [1, 0, 2]>(x)
        pairs = Reshape(steps, rows)
        all = MatMul(pairs, w)
        parts = Reshape(all, heads)
        keys = Transpose<perm = [1, 2, 0]>(parts)
        queries = Transpose<perm = [1, 0, 2]>(parts)
        scores = MatMul(queries, keys)
        shares = Softmax<axis = -1>(scores)
        mixed = MatMul(shares, queries)
        back = Transpose<perm = [1, 0, 2]>(mixed)
        joined = Reshape(back, whole)
        first = Transpose<perm = [1, 0, 2]>(joined)
        y = GatherElements<axis = 2>(first, order)
    }"""
    constants = {
        "rows": np.int64([4, 6]),
        "w": values(6, 6),
        "heads": np.int64([4, 3, 2]),
        "whole": np.int64([4, 1, 6]),
        "order": np.int64(np.arange(24).reshape(1, 4, 6) * 5 % 6),
    }
    yield rows_case("steps_first", net, (4, 6), constants)


def recurrent():
    """Initial states for one row."""
    net = """
    net (float[1, 4, 3] x) => (float[1, 5] y) {
        steps = Transpose<perm = [1, 0, 2]>(x)
        all, last, cell = LSTM<hidden_size = 5>(steps, w, r, b, , start, memory)
        y = Squeeze(last, zero)
    }"""
    constants = {
        "w": values(1, 20, 3),
        "r": values(1, 20, 5),
        "b": values(1, 40),
        "start": values(1, 1, 5),
        "memory": values(1, 1, 5) / 2,
        "zero": np.int64([0]),
    }
    yield rows_case("recurrent", net, (4, 3), constants)


def batch_cases():
    yield from images()
    yield from transformer()
    yield from steps_first()
    yield from recurrent()
