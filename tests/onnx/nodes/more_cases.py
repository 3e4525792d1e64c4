# SPDX-License-Identifier: Apache-2.0
"""Cases beside those of the package onnx: attributes of older opsets, and recurrent layers whose options torch.nn has.

Expected values are numpy's, or those of onnx's own models of recurrent layers.
"""

from types import SimpleNamespace

import numpy as np


def values(*shape):
    """Different numbers between -2 and 2, in no order."""
    count = int(np.prod(shape))
    return (np.sin(np.arange(count) * 1.7 + len(shape)) * 2).astype(np.float32).reshape(shape)


def case(name, op, opset, attributes, inputs, outputs, absent=()):
    """One node. `absent` are the places of inputs that are left out."""
    import onnx
    from onnx import helper

    def described(prefix, arrays):
        return [
            helper.make_tensor_value_info(f"{prefix}{i}", helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
            for i, a in enumerate(arrays)
        ]

    given, asked = described("x", inputs), described("y", outputs)
    names = [one.name for one in given]
    for place in absent:
        names.insert(place, "")
    node = helper.make_node(op, names, [one.name for one in asked], **attributes)
    model = helper.make_model(
        helper.make_graph([node], name, given, asked), opset_imports=[helper.make_opsetid("", opset)]
    )
    model.ir_version = 4 if opset < 15 else onnx.IR_VERSION
    return SimpleNamespace(name=f"more_{name}", model=model, data_sets=[(inputs, outputs)], rtol=1e-3, atol=1e-6)


def varying(one, count=1):
    """The case with a symbol for the batch of its first `count` inputs, imported for a batch twice as large."""
    inputs = one.data_sets[0][0]
    one.examples = [np.concatenate([x, x]) if i < count else x for i, x in enumerate(inputs)]
    for value in one.model.graph.input[:count]:
        value.type.tensor_type.shape.dim[0].dim_param = "batch"
    one.name += "_varying"
    return one


def softmax(rows):
    powers = np.exp(rows - rows.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def older():
    x = values(2, 3, 4)
    rows = softmax(x.reshape(2, 12))
    yield case("softmax_11", "Softmax", 11, {}, [x], [rows.reshape(x.shape)])
    yield case("softmax_11_last", "Softmax", 11, {"axis": 2}, [x], [softmax(x)])
    yield case("log_softmax_11", "LogSoftmax", 11, {"axis": 1}, [x], [np.log(rows).reshape(x.shape)])
    largest = np.zeros((2, 12), np.float32)
    largest[np.arange(2), x.reshape(2, 12).argmax(-1)] = 1
    yield case("hardmax_11", "Hardmax", 11, {"axis": 1}, [x], [largest.reshape(x.shape)])
    yield case("reduce_sum_11", "ReduceSum", 11, {"axes": [0, -1], "keepdims": 0}, [x], [x.sum((0, 2))])
    yield case("reduce_max_11", "ReduceMax", 11, {"axes": [1]}, [x], [x.max(1, keepdims=True)])
    yield case("reduce_mean_11", "ReduceMean", 11, {}, [x], [x.mean(keepdims=True)])
    bounds = {"starts": [1, -3], "ends": [1000, -1], "axes": [1, 2]}
    yield case("slice_9", "Slice", 9, bounds, [x], [x[:, 1:, -3:-1]])
    yield case("split_11", "Split", 11, {"axis": 2, "split": [1, 3]}, [x], [x[..., :1], x[..., 1:]])
    yield case("split_11_equal", "Split", 11, {"axis": -1}, [x], [x[..., :2], x[..., 2:]])
    wide = np.pad(x, ((0, 0), (1, 0), (0, 2)), constant_values=3)
    yield case("pad_2", "Pad", 2, {"pads": [0, 1, 0, 0, 0, 2], "value": 3.0}, [x], [wide])
    yield case("clip_6", "Clip", 6, {"min": -0.5, "max": 1.0}, [x], [x.clip(-0.5, 1)])
    yield case("unsqueeze_11", "Unsqueeze", 11, {"axes": [0, -1]}, [x], [x.reshape(1, 2, 3, 4, 1)])
    yield case("squeeze_11", "Squeeze", 11, {"axes": [0]}, [x[:1]], [x[0]])
    places = np.argsort(-x, -1, kind="stable")[..., :2]
    yield case("topk_1", "TopK", 1, {"k": 2}, [x], [np.take_along_axis(x, places, -1), places])
    yield case("dropout_10", "Dropout", 10, {"ratio": 0.5}, [x], [x])
    yield case("gelu_tanh", "Gelu", 20, {"approximate": "tanh"}, [x], [gelu(x)])
    image = values(1, 2, 2, 3)
    doubled = image.repeat(2, 2).repeat(3, 3)
    yield case("upsample_7", "Upsample", 7, {"scales": [1.0, 1.0, 2.0, 3.0]}, [image], [doubled])
    yield case("resize_10", "Resize", 10, {}, [image, np.float32([1, 1, 2, 3])], [doubled])
    groups = values(2, 4, 3).reshape(2, 2, 6)
    scale, bias = values(2), values(2) + 1
    normal = (groups - groups.mean(-1, keepdims=True)) / np.sqrt(groups.var(-1, keepdims=True) + 1e-5)
    result = (normal * scale[:, None] + bias[:, None]).astype(np.float32).reshape(2, 4, 3)
    norm = {"num_groups": 2}
    yield case("group_norm_18", "GroupNormalization", 18, norm, [groups.reshape(2, 4, 3), scale, bias], [result])


def gelu(x):
    return (x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))).astype(np.float32)


def recurrent():
    from onnx.backend.test.case.node.gru import GRUHelper
    from onnx.backend.test.case.node.lstm import LSTMHelper

    steps, rows, features, hidden = 4, 2, 3, 5
    x = values(steps, rows, features)

    def tensors(gates, directions):
        return (
            values(directions, gates * hidden, features) / 2,
            values(directions, gates * hidden, hidden) / 2,
            values(directions, 2 * gates * hidden) / 2,
        )

    for direction, directions in (("forward", 1), ("bidirectional", 2)):
        h, c = values(directions, rows, hidden), values(directions, rows, hidden) / 3
        settings = {"hidden_size": hidden, "direction": direction}
        w, r, b = tensors(3, directions)
        outputs = GRUHelper(X=x, W=w, R=r, B=b, initial_h=h, linear_before_reset=1, direction=direction).step()
        inputs = [x, w, r, b, h]
        settings_of_gru = {**settings, "linear_before_reset": 1}
        yield case(f"gru_{direction}", "GRU", 14, settings_of_gru, inputs, [as_float(y) for y in outputs[:2]], [4])
        w, r, b = tensors(4, directions)
        outputs = LSTMHelper(X=x, W=w, R=r, B=b, initial_h=h, initial_c=c, direction=direction).step()
        inputs = [x, w, r, b, h, c]
        yield case(f"lstm_{direction}", "LSTM", 14, settings, inputs, [as_float(y) for y in outputs[:2]], [4])
    w, r, b = tensors(1, 1)
    states, state = [], np.zeros((rows, hidden), np.float32)
    for step in x:
        state = np.maximum(step @ w[0].T + state @ r[0].T + b[0, :hidden] + b[0, hidden:], 0)
        states.append(state[None])
    settings = {"hidden_size": hidden, "activations": ["Relu"]}
    yield case("rnn_relu", "RNN", 14, settings, [x, w, r, b], [np.stack(states), state[None]])


def lengths():
    """A sequence that ends early gives what it gives alone, and zeros behind its end."""
    from onnx.backend.test.case.node.gru import GRUHelper

    steps, rows, features, hidden = 4, 2, 3, 5
    x = values(steps, rows, features)
    w, r = values(2, 3 * hidden, features) / 2, values(2, 3 * hidden, hidden) / 2
    b, h = values(2, 6 * hidden) / 2, values(2, rows, hidden)
    lens = np.int32([4, 2])
    settings = {"linear_before_reset": 0, "direction": "bidirectional"}
    outputs, states = np.zeros((steps, 2, rows, hidden), np.float32), np.zeros((2, rows, hidden), np.float32)
    for row, length in enumerate(lens):
        own = slice(row, row + 1)
        alone = GRUHelper(X=x[:length, own], W=w, R=r, B=b, initial_h=h[:, own], **settings).step()
        outputs[:length, :, own], states[:, own] = alone[:2]
    settings["hidden_size"] = hidden
    yield case("gru_lengths", "GRU", 14, settings, [x, w, r, b, lens, h], [outputs, states])


def batches():
    x = values(2, 3, 4)
    flat = softmax(x.reshape(2, 12)).reshape(x.shape)
    yield varying(case("softmax_11", "Softmax", 11, {}, [x], [flat]))
    yield varying(case("flatten", "Flatten", 13, {"axis": 2}, [x], [x.reshape(6, 4)]))
    yield varying(case("size", "Size", 13, {}, [x], [np.int64(24)]))
    yield varying(case("shape", "Shape", 15, {}, [x], [np.int64([2, 3, 4])]))
    yield varying(case("split", "Split", 11, {"axis": 0}, [x], [x[:1], x[1:]]))
    yield varying(case("reverse", "Slice", 9, {"starts": [-2], "ends": [9], "axes": [0]}, [x], [x]))
    yield varying(case("reduce_prod", "ReduceProd", 11, {"axes": [0]}, [x], [x.prod(0, keepdims=True)]))
    places = np.int64([[1, -2, 0, -1]])
    yield varying(
        case("gather_elements", "GatherElements", 13, {"axis": 0}, [x[:, 0], places], [x[places, 0, range(4)]])
    )
    image = values(2, 8, 3, 2)
    blocks = image.reshape(2, 2, 2, 2, 3, 2).transpose(0, 3, 4, 1, 5, 2).reshape(2, 2, 6, 4)
    yield varying(case("depth_to_space", "DepthToSpace", 13, {"blocksize": 2}, [image], [blocks]))
    mean = image.mean((2, 3), keepdims=True)
    yield varying(case("global_mean", "GlobalAveragePool", 1, {}, [image], [mean]))
    heads = x.reshape(2, 3, 2, 2).transpose(0, 2, 1, 3)
    seen = softmax(heads @ heads.swapaxes(2, 3) / np.sqrt(2)) @ heads
    attention = {"q_num_heads": 2, "kv_num_heads": 2}
    result = seen.transpose(0, 2, 1, 3).reshape(2, 3, 4).astype(np.float32)
    yield varying(case("attention", "Attention", 23, attention, [x, x, x], [result]), 3)


def as_float(array):
    return np.asarray(array, np.float32)


def more_cases():
    yield from older()
    yield from recurrent()
    yield from lengths()
    yield from batches()
