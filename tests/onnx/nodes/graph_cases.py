# SPDX-License-Identifier: Apache-2.0
"""Cases of several nodes, in the text form of onnx. Expected values are those of onnx's reference implementation."""

from types import SimpleNamespace

import numpy as np


def values(*shape):
    """Different numbers between -2 and 2, in no order."""
    count = int(np.prod(shape))
    return (np.sin(np.arange(count) * 1.3 + len(shape)) * 2).astype(np.float32).reshape(shape)


def case(name, text, inputs, constants=None, opset=20, outputs=None):
    """The graph of `text` with these initializers. `outputs` are what the reference implementation cannot compute."""
    import onnx
    from onnx import helper, numpy_helper, parser, reference

    graph = parser.parse_graph(text)
    for key, array in (constants or {}).items():
        graph.initializer.append(numpy_helper.from_array(array, key))
    domains = {"": opset, "ai.onnx.ml": 3}
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid(*one) for one in domains.items()])
    model.ir_version = min(10, onnx.IR_VERSION)
    feeds = dict(zip((one.name for one in graph.input), inputs, strict=True))
    outputs = outputs or reference.ReferenceEvaluator(model).run(None, feeds)
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


def ranges():
    """Places of a grid as detectors compute them: sizes become real numbers first."""
    net = """
    net (float[batch, 2, height] x) => (float[height] y) {
        size = Shape<start = 2>(x)
        first = Constant<value_int = 0>()
        height = Gather(size, first)
        real = Cast<to = 1>(height)
        start = Constant<value_float = 0.0>()
        step = Constant<value_float = 1.0>()
        places = Range(start, real, step)
        half = Constant<value_float = 0.5>()
        y = Add(places, half)
    }"""
    one = case("range_of_size", net, [values(2, 2, 6)])
    one.examples = [values(3, 2, 9)]
    yield one


def classical(name, node, x, results="float y"):
    """One node of ai.onnx.ml on rows x."""
    kind = {"f": "float", "i": "int64"}[x.dtype.kind]
    sizes = ", ".join(["rows", *map(str, x.shape[1:])])
    return case(name, f"net ({kind}[{sizes}] x) => ({results}) {{ {node} }}", [x])


def classical_models():
    """What skl2onnx makes of scikit-learn."""
    both = "int64 label, float y"
    x, whole = values(5, 3), np.int64([[1, 2, 3], [0, 7, -1]])
    x[1] = 0
    scale = "offset = [1.5, 1.0, -2.0], scale = [2.0, 0.5, 3.0]"
    yield classical("scaler", f"y = ai.onnx.ml.Scaler<{scale}>(x)", x)
    for norm in ("MAX", "L1", "L2"):
        yield classical(f"normalizer_{norm}", f'y = ai.onnx.ml.Normalizer<norm = "{norm}">(x)', abs(x) + x[:1] ** 2)
    yield classical("imputer", "y = ai.onnx.ml.Imputer<imputed_value_floats = [9.0], replaced_value_float = 0.0>(x)", x)
    yield classical("one_hot", "y = ai.onnx.ml.OneHotEncoder<cats_int64s = [1, 2, 7]>(x)", whole)
    labels = "keys_int64s = [1, 2, 7], values_floats = [1.5, 2.5, 3.5], default_float = 0.25"
    yield classical("label_encoder", f"y = ai.onnx.ml.LabelEncoder<{labels}>(x)", whole)
    for kind, labels in (("int64", "0, 1, 2"), ("int64", "7, 3, 5"), ("int32", "0, 1, 2")):
        text = f"""
        net (float[rows, 3] x) => ({kind}[1, rows] y) {{
            labels = Constant<value = {kind}[3] {{{labels}}}>()
            best = ArgMax<axis = 1, keepdims = 0>(x)
            y = ai.onnx.ml.ArrayFeatureExtractor(labels, best)
        }}"""
        yield case(f"labels_{kind}_{labels[0]}", text, [x])
    weights = "coefficients = [1.0, -0.5, 0.25, 0.3, 0.2, 0.1], intercepts = [0.1, 0.2]"
    yield classical("linear_regressor", f"y = ai.onnx.ml.LinearRegressor<targets = 2, {weights}>(x)", x)
    for function in ("NONE", "LOGISTIC", "SOFTMAX"):
        options = f'classlabels_ints = [7, 3], {weights}, post_transform = "{function}"'
        node = f"label, y = ai.onnx.ml.LinearClassifier<{options}>(x)"
        yield classical(f"linear_classifier_{function}", node, x, both)
    vectors = "support_vectors = [1.0, 0.0, 0.5, -1.0, 0.5, 0.2, 0.3, 0.3, 0.1], kernel_params = [0.5, 0.1, 3.0]"
    for kernel in ("LINEAR", "RBF", "POLY", "SIGMOID"):
        options = f'{vectors}, kernel_type = "{kernel}", post_transform = "NONE"'
        one = f"n_supports = 3, coefficients = [1.0, 0.5, -1.5], rho = [0.05], {options}"
        yield classical(f"svm_regressor_{kernel}", f"y = ai.onnx.ml.SVMRegressor<{one}>(x)", x)
        pairs = "coefficients = [1.0, 0.5, -1.5, 0.3, -0.2, -0.7], rho = [0.05, -0.1, 0.2]"
        three = f"classlabels_ints = [0, 1, 2], vectors_per_class = [1, 1, 1], {pairs}, {options}"
        yield classical(f"svm_{kernel}", f"label, y = ai.onnx.ml.SVMClassifier<{three}>(x)", x, both)
        two = "classlabels_ints = [0, 1], vectors_per_class = [2, 1], coefficients = [1.0, 0.5, -1.5], rho = [0.05]"
        yield classical(f"svm_pair_{kernel}", f"label, y = ai.onnx.ml.SVMClassifier<{two}, {options}>(x)", x, both)


def trees():
    """Two trees, whose nodes are known by two numbers."""
    both = "int64 label, float y"
    x = values(7, 3)
    nodes = """nodes_treeids = [0, 0, 0, 0, 0, 4, 4, 4], nodes_nodeids = [0, 1, 2, 3, 4, 0, 1, 2],
        nodes_featureids = [0, 2, 0, 0, 0, 1, 0, 0], nodes_values = [0.1, -0.5, 0.0, 0.0, 0.0, %s, 0.0, 0.0],
        nodes_truenodeids = [1, 3, 0, 0, 0, 2, 0, 0], nodes_falsenodeids = [2, 4, 0, 0, 0, 1, 0, 0],
        nodes_missing_value_tracks_true = [%s, 0, 0, 0, 0, 0, 0, 0],
        nodes_modes = ["%s", "%s", "LEAF", "LEAF", "LEAF", "%s", "LEAF", "LEAF"]"""
    ends = "{0}_treeids = [0, 0, 0, 4, 4], {0}_nodeids = [3, 4, 2, 1, 2], {0}_ids = [%s], {0}_weights = [%s]"
    mixed, shares = "0.5, -1.5, 0.25, 1.0, -0.75", "0.5, 0.125, 0.25, 0.0, 0.375"
    for mode in ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"):
        tree = nodes % (x[2, 1], 0, mode, mode, mode)
        leaves = ends.format("target") % ("0, 1, 0, 1, 1", mixed)
        node = f"y = ai.onnx.ml.TreeEnsembleRegressor<n_targets = 2, {tree}, {leaves}, base_values = [0.5, 2.0]>(x)"
        yield classical(f"tree_{mode}", node, x)
    tree = nodes % (0.3, 0, *["BRANCH_LEQ"] * 3)
    leaves = ends.format("target") % ("0, 0, 0, 0, 0", mixed)
    options = f'n_targets = 1, aggregate_function = "AVERAGE", {tree}, {leaves}'
    yield classical("tree_mean", f"y = ai.onnx.ml.TreeEnsembleRegressor<{options}>(x)", x)
    missing = x.copy()
    missing[::2] = np.nan
    for tracks in (0, 1):
        tree = nodes % (0.3, tracks, *["BRANCH_LEQ"] * 3)
        node = f"y = ai.onnx.ml.TreeEnsembleRegressor<n_targets = 1, {tree}, {leaves}>(x)"
        yield classical(f"tree_missing_{tracks}", node, missing)
    tree = nodes % (0.3, 0, *["BRANCH_LEQ"] * 3)
    for function in ("NONE", "LOGISTIC", "SOFTMAX"):
        leaves = ends.format("class") % ("0, 1, 2, 1, 2", mixed)
        options = f'classlabels_int64s = [7, 3, 5], post_transform = "{function}", {tree}, {leaves}'
        yield classical(
            f"tree_classes_{function}", f"label, y = ai.onnx.ml.TreeEnsembleClassifier<{options}>(x)", x, both
        )
    for function, weights in (("NONE", shares), ("LOGISTIC", mixed)):
        leaves = ends.format("class") % ("0, 0, 0, 0, 0", weights)
        options = f'classlabels_int64s = [0, 1], post_transform = "{function}", {tree}, {leaves}'
        yield classical(f"tree_pair_{function}", f"label, y = ai.onnx.ml.TreeEnsembleClassifier<{options}>(x)", x, both)


def loops():
    """Turns whose number is known, with what goes from turn to turn and what is collected."""
    net = """
    net (float[2, 3] x) => (float[2, 3] last, float[turns, 2, 3] all, int64[turns] numbers) {
        most = Constant<value_int = 5>()
        go = Constant<value = bool {1}>()
        two = Constant<value_float = 2.0>()
        three = Constant<value_int = 3>()
        last, all, numbers = Loop<body = turn (int64 i, bool c, float[2, 3] s)
            => (bool more, float[2, 3] next, float[2, 3] seen, int64 place) {
            more = Less(i, three)
            odd = Equal(i, three)
            next = If<then_branch = yes () => (float[2, 3] a) { a = Neg(s) },
                      else_branch = no () => (float[2, 3] b) { t = Mul(s, two) b = Add(t, x) }>(odd)
            seen = Sub(next, x)
            place = Identity(i)
        }>(most, go, x)
    }"""
    x = values(2, 3)
    states = [x]
    for turn in range(4):  # the turn 3 is the last one
        states.append(-states[-1] if turn == 3 else states[-1] * 2 + x)
    yield case("loop", net, [x], outputs=[states[-1], np.stack(states[1:]) - x, np.arange(4)])
    scan = """
    net (float[2, 4] x, float[2] start) => (float[2] last, float[2, 4] sums) {
        last, sums = Scan<num_scan_inputs = 1, scan_input_axes = [1], scan_input_directions = [%d],
                          scan_output_axes = [1], scan_output_directions = [%d],
            body = turn (float[2] s, float[2] item) => (float[2] next, float[2] seen) {
                half = Constant<value_float = 0.5>()
                less = Mul(s, half)
                next = Add(less, item)
                seen = Identity(next)
            }>(start, x)
    }"""
    x, state = values(2, 4), values(2)
    for backwards in (0, 1):
        sums = np.empty_like(x)
        total = state
        for turn in range(4):
            total = total / 2 + x[:, 3 - turn if backwards else turn]
            sums[:, turn if backwards else 3 - turn] = total
        text = scan % (backwards, 1 - backwards)
        yield case(f"scan_{backwards}", text, [x, state], outputs=[total, sums])


def sequences():
    """Lists of tensors that are made and read inside of the model."""
    net = """
    net (float[5, 2] x) => (float[rows, 2] joined, float[parts, 2, 2] new, int64 count, float[1, 2] last) {
        two = Constant<value_int = 2>()
        first = Constant<value_int = 0>()
        end = Constant<value_int = -1>()
        parts = SplitToSequence<axis = 0>(x, two)
        last = SequenceAt(parts, end)
        fewer = SequenceErase(parts)
        turned = SequenceMap<body = each (float[2, 2] item) => (float[2, 2] out) { out = Transpose(item) }>(fewer)
        new = ConcatFromSequence<axis = 0, new_axis = 1>(turned)
        top = SequenceAt(turned, first)
        more = SequenceInsert(parts, top, first)
        count = SequenceLength(more)
        joined = ConcatFromSequence<axis = 0>(more)
    }"""
    yield case("sequence", net, [values(5, 2)])


def resizes():
    """Images in the size of others, as U-Nets have them, for other sizes than those of the import."""
    net = """
    net (float[batch, 2, height, width] x) => (float[batch, 2, height, width] y) {
        small = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(x)
        sizes = Shape(x)
        y = Resize<mode = "%s", coordinate_transformation_mode = "%s", nearest_mode = "floor">(small, , , sizes)
    }"""
    for mode, places in (("linear", "half_pixel"), ("nearest", "asymmetric")):
        one = case(f"resize_like_{mode}", net % (mode, places), [values(2, 2, 6, 5)])
        one.examples = [values(3, 2, 8, 10)]
        yield one
    scaled = """
    net (float[batch, 2, 4, 5] x) => (float[batch, 2, 6, 10] y) {
        y = Resize<mode = "nearest", coordinate_transformation_mode = "%s", nearest_mode = "%s">(x, roi, scales)
    }"""
    x, constants = values(2, 2, 4, 5), {"roi": np.float32([]), "scales": np.float32([1, 1, 1.5, 2])}
    one = case("resize_batch", scaled % ("half_pixel", "round_prefer_floor"), [x], constants, opset=12)
    one.examples = [values(3, 2, 4, 5)]
    yield one
    # Opset 12: place i of the result is place (i + 0.5) / scale, which the reference implementation has no more.
    places = [x[:, :, [0, 1, 1, 2, 3, 3]][..., [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]]]
    text = scaled % ("tf_half_pixel_for_nn", "floor")
    one = case("resize_tensorflow", text, [x], constants, opset=12, outputs=places)
    one.examples = [values(3, 2, 4, 5)]
    yield one


def graph_cases():
    yield from channels_last()
    yield from sizes()
    yield from ranges()
    yield from classical_models()
    yield from trees()
    yield from loops()
    yield from sequences()
    yield from resizes()
