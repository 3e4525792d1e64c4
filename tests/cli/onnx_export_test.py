#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports to ONNX: onnx.checker accepts them, ONNX Runtime computes what `mase run` does, and an import gives the same
graph again. Number formats as QDQ are run by ONNX Runtime, and those of QONNX by the executor of qonnx.

usage: onnx_export_test.py --mase BINARY --source ROOT [CASE ...]; exits with 77 where onnx or onnxruntime is missing
"""

import argparse
import json
import sys
import unittest
from pathlib import Path

try:
    import numpy as np
    import onnx
    import onnxruntime
    import program_cases
    from program_cases import Cases, mase, mase_result
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

try:
    import qonnx.core.onnx_exec as qonnx_executor
    from qonnx.core.modelwrapper import ModelWrapper
    from qonnx.transformation.infer_shapes import InferShapes
except ImportError:
    qonnx_executor = None

SOURCE = None
# Sums of up to 4608 products are added in another order; the rounding of float32 is 6e-8.
FLOAT_TOLERANCE = 1e-5

FIXTURES = {
    "bert_tiny": "trace",
    "cnv_small": "script",
    "dict_output": "script",
    "dropout_mlp": "script",
    "encoder_tiny": "script",
    "functional_ops": "trace",
    "jsc_s": "script",
    "jsc_tiny": "script",
    "lenet": "script",
    "mobile_tiny": "script",
    "resnet8": "script",
    "shared_module": "script",
    "toy": "script",
    "two_inputs": "trace",
    "unet_tiny": "script",
    "vit_tiny": "script",
}
REGISTRY = {
    "jsc-toy": (16,),
    "lenet": (1, 28, 28),
    "lfc": (1, 28, 28),
    "cnv": (3, 32, 32),
    "vit-tiny": (1, 28, 28),
    "transformer-jets": (16,),
    "bert-tiny": (32,),
    "llama-tiny": (64,),
}
# Programs that have every quantizable operator; some of them normalize a batch by its own statistics.
PROGRAMS = ("Functions", "Layers", "Methods", "MoreFunctions", "MoreLayers", "PlainLayers", "PointwiseFunctions")
TOKENS = {"bert-tiny", "llama-tiny"}

# Formats of data, weights, biases and results. Where all steps are powers of two and sums fit 24 bits, they are
# exact in float32, and so is the comparison; elsewhere the order of summation decides the last bits.
FORMATS = {
    "int8": ("integer(8, 5)", "integer(8, 7)", "integer(16, 8)", "integer(8, 6)"),
    "uint8": ("integer(8, 4, is_signed=false)", "integer(8, 6)", "integer(16, 8)", "NA"),
    "6 bits": ("integer(6, 3)", "integer(5, 4)", "integer(12, 8)", "integer(7, 5)"),
    "4 bits": ("integer(4, 2)", "integer(4, 4)", "integer(8, 6)", "NA"),
    "16 bits": ("integer(16, 8)", "integer(8, 6)", "integer(32, 16)", "NA"),
    "24 bits": ("integer(24, 12)", "integer(16, 12)", "integer(32, 16)", "NA"),
    "floor": ("integer_floor(8, 4)", "integer_floor(8, 6)", "integer_floor(16, 8)", "NA"),
    "away from zero": ("integer(8, 4, rounding=nearest_away)", "integer(8, 6)", "integer(16, 8)", "NA"),
    "steps of rows": ("integer(8, 4)", "scale_integer(8)", "integer(16, 8)", "NA"),
    "FP8": ("fp8_e4m3()", "fp8_e5m2()", "integer(16, 8)", "NA"),
    "signs": ("binary()", "binary()", "integer(16, 8)", "NA"),
    "scaled signs": ("integer(8, 4)", "binary(scaled=true)", "integer(16, 8)", "NA"),
    "ternary": ("integer(8, 4)", "ternary()", "integer(16, 8)", "NA"),
    "MX": ("mxint8()", "mxint8()", "integer(16, 8)", "NA"),
}
INEXACT = {"24 bits", "steps of rows", "scaled signs"}
PORTS = ("data_in", "weight", "bias", "data_out")
# What a dialect cannot say is an error that names these ports of lenet.
REFUSED = {
    "qdq": {"away from zero": {"data_in"}, "signs": {"data_in"}, "MX": {"data_in", "weight"}},
    "qonnx": {"FP8": {"data_in", "weight"}, "MX": {"data_in", "weight"}},
}
# Networks with a format at every port of every node.
NETWORKS = ("cnv_small", "jsc_s", "mobile_tiny", "resnet8", "unet_tiny", "vit_tiny")
LENET_LAYERS = ("conv1", "conv2", "fc1", "fc2")


def runtime_outputs(path, arrays, optimized=True):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    if not optimized:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    inputs = session.get_inputs()
    assert len(inputs) == len(arrays)
    return session.run(None, {one.name: array for one, array in zip(inputs, arrays)})


def qonnx_output(path, array):
    model = ModelWrapper(str(path))
    name = model.graph.input[0].name
    model.set_tensor_shape(name, list(array.shape))
    model = model.transform(InferShapes())
    return next(iter(qonnx_executor.execute_onnx(model, {name: array}).values()))


class Exports(Cases):
    def convert(self, model, arrays):
        path = self.folder / "model.onnx"
        mase("convert", model, path, "--overwrite", *self.input_words(arrays))
        onnx.checker.check_model(onnx.load(path), full_check=True)
        return path

    def compare(self, model, path, arrays):
        wanted = self.outputs_of(model, arrays, "--level", "float")
        found = runtime_outputs(path, arrays)
        self.assertEqual([one.shape for one in wanted], [one.shape for one in found])
        for i, (one, other) in enumerate(zip(wanted, found)):
            largest = max(np.abs(one, dtype=float).max(), 1e-30)
            np.testing.assert_allclose(other, one, rtol=0, atol=FLOAT_TOLERANCE * largest, err_msg=f"output {i}")

    def check_round_trip(self, model, path, words=()):
        self.assertEqual(mase("show", model, *words), mase("show", path, *words), f"{model} is another graph")

    def check(self, model, arrays):
        path = self.convert(model, arrays)
        self.compare(model, path, arrays)
        self.compare(model, path, [np.concatenate([one, one[:1]]) for one in arrays])
        return path

    def test_fixtures(self):
        for name, kind in FIXTURES.items():
            folder = SOURCE / "tests/fixtures/models" / name
            arrays = [np.load(file) for file in sorted(folder.glob("input*.npy"))]
            with self.subTest(name):
                model = folder / f"{name}.{kind}.pt"
                self.check_round_trip(model, self.check(model, arrays), self.input_words(arrays))

    def test_every_quantizable_operator(self):
        array = np.random.default_rng(3).normal(size=(2, 4, 6, 6)).astype(np.float32)
        for name in PROGRAMS:
            with self.subTest(name):
                model = SOURCE / f"tests/fixtures/programs/Quantizable{name}.script.pt"
                path = self.convert(model, [array])
                self.compare(model, path, [array])
                self.check_round_trip(model, path, self.input_words([array]))

    def test_layers_of_attention_are_taken_apart(self):
        networks = self.networks()
        arrays = [np.random.default_rng(5).normal(size=(2, 5, 8)).astype(np.float32)]
        model, path = self.folder / "encoder.pt", self.folder / "model.onnx"
        networks.encoder().save(model)
        said = mase("convert", model, path, *self.input_words(arrays))
        self.assertIn("written after the pass expand_attention", said)
        self.compare(model, path, arrays)
        again = self.folder / "again.onnx"
        mase("convert", path, again, *self.input_words(arrays))
        self.check_round_trip(path, again)

    def networks(self):
        try:
            import layer_networks
        except ImportError as missing:
            self.skipTest(str(missing))
        return layer_networks

    def check_network(self, name, module, shapes, same_text=True):
        import torch

        draw = np.random.default_rng(4)
        arrays = [draw.normal(size=shape).astype(np.float32) for shape in shapes]
        model = self.folder / f"{name}.pt"
        torch.manual_seed(0)
        torch.jit.trace(module.eval(), tuple(map(torch.from_numpy, arrays))).save(model)
        path = self.convert(model, arrays)
        self.compare(model, path, arrays)
        if same_text:
            self.check_round_trip(model, path, self.input_words(arrays))
        self.compare(path, path, arrays)
        bare = onnx.load(path)  # as the file of another program: without the text of the graph
        del bare.metadata_props[:]
        for node in bare.graph.node:
            del node.metadata_props[:]
        onnx.save(bare, path)
        self.compare(path, path, arrays)

    def test_recurrent_layers(self):
        for name, (module, shapes) in self.networks().recurrent().items():
            with self.subTest(name):
                self.check_network(name, module, shapes)

    def test_packed_sequences(self):
        import torch

        packed = self.networks().Packed().eval()
        arrays = [np.random.default_rng(6).normal(size=(3, 7, 8)).astype(np.float32), np.array([2, 5, 3])]
        model = self.folder / "packed.pt"
        torch.jit.trace(packed, tuple(map(torch.from_numpy, arrays)), check_trace=False).save(model)
        self.compare(model, self.convert(model, arrays), arrays)

    def test_other_operators(self):
        for name, module in self.networks().operators().items():
            with self.subTest(name):
                self.check_network(name, module, [(2, 4, 6, 6)], same_text=False)

    def test_built_in_models(self):
        draw = np.random.default_rng(1)
        for name, shape in REGISTRY.items():
            shape = (2, *shape)
            array = draw.integers(0, 250, shape) if name in TOKENS else draw.normal(size=shape).astype(np.float32)
            with self.subTest(name):
                self.check_round_trip(name, self.check(name, [array]))

    def test_a_changed_file_is_read_as_it_is(self):
        array = np.random.default_rng(2).normal(size=(4, 16)).astype(np.float32)
        path = self.convert("jsc-toy", [array])
        model = onnx.load(path)
        next(node for node in model.graph.node if node.op_type == "Relu").op_type = "Sigmoid"
        weight = next(one for one in model.graph.initializer if one.name.endswith("weight"))
        weight.CopyFrom(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(weight) * 2, weight.name))
        onnx.save(model, path)
        self.compare(path, path, [array])

    def test_external_data_are_read_inside_the_sandbox(self):
        path = self.convert("jsc-toy", [np.zeros((4, 16), np.float32)])
        outside = self.folder / "outside.onnx"
        onnx.save(onnx.load(path), outside, save_as_external_data=True, location="outside.data", size_threshold=0)
        self.assertTrue((self.folder / "outside.data").exists())
        words = ("--max-epochs", "1", "--project-dir", self.folder / "results", "--sandbox", "auto")
        mase("train", outside, "jsc", *words)


def documented_model():
    """Two named outputs, sizes with symbols, and a text at every place that has one."""
    generator = np.random.default_rng(11)

    def tensor(name, *shape):
        return onnx.numpy_helper.from_array(generator.normal(size=shape).astype(np.float32), name)

    make = onnx.helper.make_node
    nodes = [
        make("MatMul", ["image", "first"], ["product"], "projection", 'says "so"\nin two lines'),
        make("Relu", ["product"], ["active"], "act", "rectifies"),
        make("MatMul", ["active", "head.weight"], ["logits"], "the head"),
        make("Softmax", ["logits"], ["p 1"], axis=-1),
    ]
    kind = onnx.TensorProto.FLOAT
    value = onnx.helper.make_tensor_value_info
    image = value("image", kind, ["N", "positions", 4], doc_string="channels last")
    outputs = [value(name, kind, ["N", "positions", 3]) for name in ("logits", "p 1")]
    outputs[0].doc_string = "before softmax"
    tensors = [tensor("first", 4, 8), tensor("head.weight", 8, 3)]
    graph = onnx.helper.make_graph(nodes, "my graph", [image], outputs, tensors, doc_string="of the graph")
    opset = [onnx.helper.make_opsetid("", 21)]
    model = onnx.helper.make_model(graph, opset_imports=opset, ir_version=10, doc_string="of the model")
    model.domain, model.model_version = "org.example", 7
    for owner, key in ((model, "author"), (graph, "source"), (nodes[1], "team"), (image, "unit"), (outputs[1], "of")):
        owner.metadata_props.add(key=key, value=f"the {key}")
    # make_graph has copied the nodes and values.
    for mine, copies in ((nodes, graph.node), ([image], graph.input), (outputs, graph.output)):
        for one, copy in zip(mine, copies):
            copy.CopyFrom(one)
    model.graph.CopyFrom(graph)
    return model


def said(model):
    """What a model says besides what it computes; without what an export adds."""

    def metadata(owner):
        added = ("mase.", "pkg.torch.onnx.")
        return {one.key: one.value for one in owner.metadata_props if not one.key.startswith(added)}

    def value(one):
        sizes = [size.dim_param or size.dim_value for size in one.type.tensor_type.shape.dim]
        return one.name, sizes, one.doc_string, metadata(one)

    graph = model.graph
    nodes = {one.name: (one.doc_string, metadata(one)) for one in graph.node if not one.name.startswith("/")}
    return {
        "model": (model.doc_string, model.domain, model.model_version, metadata(model)),
        "graph": (graph.name, graph.doc_string, metadata(graph)),
        "values": [value(one) for one in [*graph.input, *graph.output]],
        "nodes": {name: text for name, text in nodes.items() if name},
    }


class Documentation(Cases):
    def setUp(self):
        super().setUp()
        self.model, self.again = self.folder / "model.onnx", self.folder / "again.onnx"
        self.array = np.random.default_rng(2).normal(size=(3, 5, 4)).astype(np.float32)

    def export(self, model, *options):
        onnx.checker.check_model(model, full_check=True)
        onnx.save(model, self.model)
        mase("convert", self.model, self.again, *options)
        found = onnx.load(self.again)
        onnx.checker.check_model(found, full_check=True)
        return found

    def test_texts_and_names_survive(self):
        model = documented_model()
        self.assertEqual(said(model), said(self.export(model)))
        third = self.folder / "third.onnx"
        mase("convert", self.again, third)
        self.assertEqual(said(model), said(onnx.load(third)))
        text = [mase("show", one, "--format", "text") for one in (self.model, self.again, third)]
        self.assertEqual(text[0], text[1])
        self.assertEqual(text[0], text[2])
        self.assertEqual(mase("show", self.model, "--format", "json"), mase("show", third, "--format", "json"))

    def test_a_checkpoint_keeps_them(self):
        onnx.save(documented_model(), self.model)
        (self.folder / "passes.toml").write_text("[passes.remove_dropout]\n")
        options = ["--config", self.folder / "passes.toml", "--project-dir", self.folder, "--project", "kept", "-q"]
        mase("transform", self.model, *options)
        mase("convert", self.folder / "kept", self.again)
        self.assertEqual(said(documented_model()), said(onnx.load(self.again)))

    def test_outputs_are_run_by_name_and_for_other_sizes(self):
        self.export(documented_model())
        for model in (self.model, self.again):
            wanted = runtime_outputs(model, [self.array])
            y = self.folder / "y.npy"
            done = json.loads(mase("run", model, *self.input_words([self.array]), "--output", y, "--json"))
            self.assertEqual([one["key"] for one in done["outputs"]], ["logits", "p 1"])
            self.assertEqual([Path(one["file"]).name for one in done["outputs"]], ["y_logits.npy", "y_p_1.npy"])
            for one, array in zip(done["outputs"], wanted):
                np.testing.assert_allclose(np.load(one["file"]), array, atol=FLOAT_TOLERANCE)

    def test_the_name_of_an_only_output_survives(self):
        model = documented_model()
        del model.graph.output[1]
        found = self.export(model)
        self.assertEqual([one.name for one in found.graph.output], ["logits"])
        self.assertEqual(mase("show", self.model, "--format", "text"), mase("show", self.again, "--format", "text"))

    def test_an_output_that_is_an_input_or_another_output_has_its_name(self):
        model = documented_model()
        for name in ("copy", "image again"):
            output = model.graph.output.add()
            output.CopyFrom(model.graph.output[0])
            output.name = name
        model.graph.output[3].type.tensor_type.shape.dim[2].dim_value = 4
        for source, name in (("logits", "copy"), ("image", "image again")):
            model.graph.node.append(onnx.helper.make_node("Identity", [source], [name]))
        self.assertEqual(said(model)["values"], said(self.export(model))["values"])
        wanted = runtime_outputs(self.model, [self.array])
        for one, other in zip(wanted, runtime_outputs(self.again, [self.array])):
            np.testing.assert_allclose(one, other, atol=FLOAT_TOLERANCE)

    def test_what_a_file_says_may_be_changed_after_the_export(self):
        found = self.export(documented_model())
        found.doc_string = "another text"
        found.graph.node[-1].doc_string = "another node's"
        wanted = said(found)
        self.assertEqual(wanted, said(self.export(found, "--overwrite")))


class Formats(Cases):
    """Lenet with formats at all layers, and other networks with formats at all ports."""

    @classmethod
    def setUpClass(cls):
        folder = SOURCE / "tests/fixtures/models/lenet"
        cls.model = folder / "lenet.script.pt"
        cls.array = np.load(folder / "inputs.npy")
        cls.rows = []

    @classmethod
    def tearDownClass(cls):
        for row in cls.rows:
            print("{:16} {:32} off by {:.2g} of the largest result, {:.1%} of the results differ".format(*row))

    def quantize(self, formats, kinds=("linear", "conv2d")):
        lines = ["[passes.quantize]", 'by = "type"']
        for kind in kinds:
            lines.append(f"[passes.quantize.{kind}.config]")
            lines += [f'{port} = "{format}"' for port, format in zip(PORTS, formats) if format != "NA"]
        (self.folder / "formats.toml").write_text("\n".join(lines) + "\n")
        words = self.input_words([self.array])
        to = ["--project-dir", self.folder, "--project", "p", "--overwrite", "-q"]
        mase("transform", self.model, "--config", self.folder / "formats.toml", *to, *words)
        return self.folder / "p", words

    def export(self, checkpoint, words, dialect, *options):
        path = self.folder / f"{dialect}.onnx"
        return path, mase_result("convert", checkpoint, path, "--format", dialect, "--overwrite", *words, *options)

    def check(self, name, how, wanted, found):
        """Records how far results are off, and compares them."""
        self.assertEqual(wanted.shape, found.shape)
        different = wanted != found
        largest = np.abs(wanted - found).max() / np.abs(wanted).max()
        self.rows.append((name, how, largest, different.mean()))
        self.assertLessEqual(largest, FLOAT_TOLERANCE if name in INEXACT else 0)

    def check_refused(self, done, name, dialect):
        self.assertNotEqual(done.returncode, 0, f"{name}: {dialect} should be refused")
        lines = [line.strip() for line in done.stderr.splitlines() if line.startswith("  ")]
        for line in lines:
            self.assertIn(line.split()[0].split(".")[1], REFUSED[dialect][name])
        for port in REFUSED[dialect][name]:
            named = {line.split(".")[0] for line in lines if line.split()[0].endswith("." + port)}
            self.assertEqual(len(named), len(LENET_LAYERS), f"{name}: every {port} is named")

    def test_formats(self):
        for name, formats in FORMATS.items():
            checkpoint, words = self.quantize(formats)
            wanted = self.outputs_of(checkpoint, [self.array], "--level", "quantized")[0]
            self.assertGreater(len(np.unique(wanted)), 5, "the results tell nothing apart")
            for dialect in ("qdq", "qonnx"):
                with self.subTest(name, dialect=dialect):
                    self.check_dialect(name, dialect, checkpoint, words, wanted)

    def test_networks_of_8_bits(self):
        for name in NETWORKS:
            folder = SOURCE / "tests/fixtures/models" / name
            self.model, self.array = folder / f"{name}.script.pt", np.load(folder / "inputs.npy")
            checkpoint, words = self.quantize(FORMATS["int8"], kinds=["default"])
            wanted = self.outputs_of(checkpoint, [self.array], "--level", "quantized")[0]
            for dialect in ("qdq", "qonnx"):
                with self.subTest(name, dialect=dialect):
                    self.check_dialect(name, dialect, checkpoint, words, wanted)

    def test_transform_exports(self):
        _, words = self.quantize(FORMATS["int8"])
        path = self.folder / "of_transform.onnx"
        config = ["--config", self.folder / "formats.toml", "--project-dir", self.folder, "--project", "q", "-q"]
        mase("transform", self.model, *config, *words, "--export", path, "--export-format", "qdq")
        wanted = self.outputs_of(self.folder / "q", [self.array], "--level", "quantized")[0]
        self.assertTrue(np.array_equal(runtime_outputs(path, [self.array])[0], wanted))
        again = mase_result("transform", self.model, *config, *words, "--export", path)
        self.assertIn("exists; name another file", again.stderr)

    def check_dialect(self, name, dialect, checkpoint, words, wanted):
        path, done = self.export(checkpoint, words, dialect)
        if name in REFUSED[dialect]:
            self.check_refused(done, name, dialect)
            path, done = self.export(checkpoint, words, dialect, "--allow-loss")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("left out: ", done.stdout)
            return
        self.assertEqual(done.returncode, 0, done.stderr)
        if dialect == "qdq":
            onnx.checker.check_model(onnx.load(path), full_check=True)
            self.check(name, "ONNX Runtime", wanted, runtime_outputs(path, [self.array], optimized=False)[0])
            if name != "FP8":  # its optimizations move FP8 over other operators
                self.check(name, "ONNX Runtime, optimized", wanted, runtime_outputs(path, [self.array])[0])
        elif qonnx_executor:
            self.check(name, "the executor of qonnx", wanted, qonnx_output(path, self.array))
        imported = self.outputs_of(path, [self.array], "--level", "quantized")[0]
        self.check(name, f"imported from {dialect}", wanted, imported)


def main():
    global SOURCE
    parser = argparse.ArgumentParser()
    parser.add_argument("--mase", required=True)
    parser.add_argument("--source", required=True, type=Path)
    parser.add_argument("cases", nargs="*")
    arguments = parser.parse_args()
    program_cases.program, SOURCE = arguments.mase, arguments.source
    unittest.main(argv=[sys.argv[0], *arguments.cases])


if __name__ == "__main__":
    main()
