#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exported programs that `mase convert` writes: stock PyTorch opens them, its verifier accepts them, they give the bits
of `mase run` and compile, and mase reads the same graph from them.

usage: pt2_export_test.py --mase BINARY --source ROOT [CASE ...]; exits with 77 where torch is missing
"""

import argparse
import re
import sys
import unittest
from pathlib import Path

try:
    import numpy as np
    import program_cases
    import torch
    from program_cases import Cases, mase, mase_result
    from torch import nn
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

torch.set_num_threads(1)  # as mase runs: sums of several threads are others
SOURCE = None
REFUSED = {"data_dependent"}  # mase does not import it
BUILT_IN = ("jsc-toy", "lenet", "vit-tiny", "bert-tiny")
CALLS = 3  # the first calls of some engines differ from later ones


def fixtures():
    """A file of each fixture, and its example inputs."""
    for folder in sorted((SOURCE / "tests/fixtures/models").iterdir()):
        files = sorted(folder.glob("*.script.pt")) or sorted(folder.glob("*.trace.pt"))
        if files and folder.name not in REFUSED:
            yield folder.name, files[0], [np.load(path) for path in sorted(folder.glob("input*.npy"))]


def leaves(result):
    if isinstance(result, torch.Tensor):
        return [result.detach().numpy()]
    values = result.values() if isinstance(result, dict) else result
    return [leaf for value in values for leaf in leaves(value)]


def graph_of(model, *words):
    """The text of a graph. An exported program knows fixed sizes as numbers and says in guards which these are. It has no
    containers without layers and tensors, no folder that it comes from, no layers that do nothing, and no dropout that
    never asks whether the model trains; torch.add is an operator."""
    text = mase("show", model, *words)
    for name, same in re.findall(r"  %(\w+) : .* mase::identity\(self=%(\w+)\)", text):
        text = re.sub(rf"%{name}\b", f"%{same}", text)
    integers = "|".join(re.findall(r"  %(\w+) : int =", text)) or "none"
    lines = []
    for line in text.splitlines():
        if re.match(r"  (guard|container|source) |  %\w+ : int =|.*(\.Identity |mase::identity)", line):
            continue
        line = re.sub(r"(size|shape)=\[.*?\]", r"\1=[...]", line).replace("train=false", "train=$training")
        if "mase::getitem" in line:
            line = re.sub(rf"%({integers})\b|\b\d+\b", "N", line)
        lines.append(re.sub(r"call_function (torch|_operator)\.(\w+) ", r"call_function \2 ", line))
    return numbered(lines)


def numbered(lines):
    """The text with functions numbered anew: sizes that are numbers take no names."""
    counts, names = {}, {}
    for line in lines:
        if match := re.match(r"  %(\w+) : .* = call_(?:function|method) ", line):
            stem = re.sub(r"_\d+$", "", match[1])
            counts[stem] = counts.get(stem, 0) + 1
            names[match[1]] = f"{stem}#{counts[stem]}"
    return [re.sub(r"%(\w+)", lambda match: "%" + names.get(match[1], match[1]), line) for line in lines]


class Exports(Cases):
    def exported(self, model, arrays, *words):
        path = self.folder / "model.pt2"
        said = mase("convert", model, *self.input_words(arrays), path, "--overwrite", *words)
        program = torch.export.load(path)
        program.validate()
        return program, said

    def compare(self, found, wanted, message=""):
        self.assertEqual([one.shape for one in found], [one.shape for one in wanted], message)
        for i, (one, other) in enumerate(zip(found, wanted)):
            np.testing.assert_array_equal(one, other, err_msg=f"{message} output {i}")

    def check_calls(self, program, arrays, wanted):
        # PyTorch multiplies transposed data in another way if the weights require gradients.
        module = program.module().requires_grad_(False)
        with torch.no_grad():
            for call in range(CALLS):
                self.compare(leaves(module(*map(torch.from_numpy, arrays))), wanted, f"call {call}")

    def quantized(self, model, arrays, formats, kind="default"):
        lines = ["[passes.quantize]", 'by = "type"', f"[passes.quantize.{kind}.config]"]
        lines += [f"{port} = '{text}'" for port, text in formats.items()]
        config = self.folder / "formats.toml"
        config.write_text("\n".join(lines) + "\n")
        to = ["--project-dir", self.folder, "--project", "p", "--overwrite", "-q"]
        mase("transform", model, "--config", config, *to, *self.input_words(arrays))
        return self.folder / "p"


class Floats(Exports):
    def test_fixtures_open_and_give_the_bits_of_run(self):
        for name, path, arrays in fixtures():
            with self.subTest(name):
                program, _ = self.exported(path, arrays)
                self.check_calls(program, arrays, self.outputs_of(path, arrays))

    def test_models_open_and_give_the_bits_of_run(self):
        for name in BUILT_IN:
            with self.subTest(name):
                generator = np.random.default_rng(1)
                program, _ = self.exported(name, [])
                arrays = []
                for value in program.graph.nodes:
                    if value.op == "placeholder" and value.name in program.graph_signature.user_inputs:
                        shape = [int(size) for size in value.meta["val"].shape]
                        integers = not value.meta["val"].dtype.is_floating_point
                        arrays.append(generator.integers(0, 2, shape) if integers else generator.normal(size=shape))
                        arrays[-1] = arrays[-1].astype("int64" if integers else "float32")
                self.check_calls(program, arrays, self.outputs_of(name, arrays))

    def test_round_trip(self):
        for name, path, arrays in fixtures():
            with self.subTest(name):
                self.exported(path, arrays)
                again = self.folder / "model.pt2"
                words = self.input_words(arrays)
                self.assertEqual(graph_of(again, *words), graph_of(path, *words))
                self.compare(self.outputs_of(again, arrays), self.outputs_of(path, arrays))

    def test_other_batches(self):
        for name, path, arrays in fixtures():
            with self.subTest(name):
                program, said = self.exported(path, arrays)
                self.assertIn("takes any batch", said)
                for rows in (1, 3, 9):
                    others = [np.concatenate([array] * 3)[:rows] for array in arrays]
                    self.check_calls(program, others, self.outputs_of(path, others))

    def test_other_batches_after_constants_were_folded(self):
        folder = SOURCE / "tests/fixtures/huggingface/bert"
        arrays = [np.load(folder / f"{name}.npy") for name in ("input_ids", "attention_mask")]
        settings = self.folder / "fold.toml"
        settings.write_text('[[pass]]\nrun = "fold_constants"\n')
        mase("transform", folder, "--config", settings, *self.input_words(arrays), "--project-dir", self.folder)
        (checkpoint,) = self.folder.glob("*/software/transform/transformed_ckpt/graph_module.pt")
        program, said = self.exported(checkpoint, arrays)
        self.assertIn("takes any batch", said)
        for rows in (1, 5):
            others = [np.concatenate([array] * 3)[:rows] for array in arrays]
            self.check_calls(program, others, self.outputs_of(folder, others))

    def test_static_programs_stay_static(self):
        folder = SOURCE / "tests/fixtures/models/jsc_tiny"
        program, said = self.exported(folder / "jsc_tiny.static.pt2", [])
        self.assertIn("takes the sizes of its example", said)
        self.assertFalse(program.range_constraints)

    def test_modules_have_names(self):
        path = SOURCE / "tests/fixtures/models/resnet8/resnet8.script.pt"
        arrays = [np.load(path.parent / "inputs.npy")]
        program, _ = self.exported(path, arrays)
        layers = {name: array for name, array in program.state_dict.items()}
        self.assertEqual(set(layers), set(torch.jit.load(str(path)).state_dict()))
        parts = torch.export.unflatten(program)
        modules = {name for name, _ in parts.named_modules()}
        self.assertEqual(modules, {name for name, _ in torch.jit.load(str(path)).named_modules()})
        self.compare(leaves(parts(*map(torch.from_numpy, arrays))), self.outputs_of(path, arrays))

    def test_compiles(self):
        path = SOURCE / "tests/fixtures/models/jsc_tiny/jsc_tiny.script.pt"
        arrays = [np.load(path.parent / "inputs.npy")]
        program, _ = self.exported(path, arrays)
        compiled = torch.compile(program.module())
        with torch.no_grad():
            found = leaves(compiled(*map(torch.from_numpy, arrays)))
        # Inductor adds up in another order.
        for one, other in zip(found, self.outputs_of(path, arrays)):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


class Layers(nn.Module):
    """A recurrent layer within a part, its states, and a layer behind it."""

    def __init__(self, layer):
        super().__init__()
        self.part = nn.Sequential(layer)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        y, h = self.part(x)
        return self.head(y), h


class Memory(nn.Module):
    """Layers with one state, with a given state, and with the state of another layer."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.LSTM(4, 8, batch_first=True)
        self.decoder = nn.LSTM(8, 8, batch_first=True)
        self.free = nn.GRU(8, 8, bias=False, batch_first=True)

    def forward(self, x, h):
        y, state = self.encoder(x)
        z, (last, memory) = self.decoder(y, state)
        return z, last, memory, self.free(z, h.transpose(0, 1).contiguous())[0]


class OneState(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        y, (h, c) = self.layer(x)
        return y, h, c


class RecurrentCells(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.gru = nn.LSTMCell(4, 8), nn.GRUCell(4, 8, bias=False)
        self.relu, self.tanh = nn.RNNCell(4, 8, nonlinearity="relu"), nn.RNNCell(4, 8)

    def forward(self, x):
        h, c = self.lstm(x)
        h, c = self.lstm(x, (h, c))
        return h, c, self.gru(x), self.gru(x, h), self.relu(x), self.tanh(x, c)


class Heights(nn.Module):
    """Strides, a plan of the first layer's size, and places of the image as tokens."""

    def __init__(self):
        super().__init__()
        self.down, self.further = nn.Conv2d(3, 8, 3, 2, 1), nn.Conv2d(8, 8, 3, 2)
        self.mix = nn.Linear(8, 4)

    def forward(self, x):
        y = self.down(x)
        z = nn.functional.interpolate(self.further(y), size=y.shape[2:])
        return self.mix((y + z).flatten(2).transpose(1, 2)), z


class Positions(nn.Module):
    """Embeddings of tokens, and of as many positions as there are, from the third row on."""

    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(100, 8), nn.Embedding(20, 8)

    def forward(self, ids):
        return self.words(ids) + self.places((torch.arange(ids.size(1)) + 2).unsqueeze(0))


class Ends(nn.Module):
    """The first eight places and the last one, which are fewer places where there are fewer."""

    def forward(self, x):
        return torch.cat([x[:, :8] + 1, x[:, -1:]], 1)


class OtherSizes(Exports):
    """Axes of the inputs other than the batch vary where the graph takes other sizes, and only there."""

    def images(self, *shapes):
        generator = np.random.default_rng(2)
        return [generator.normal(size=shape).astype(np.float32) for shape in shapes]

    def tokens(self, rows, length):
        generator = np.random.default_rng(3)
        mask = np.arange(length)[None] < generator.integers(1, length + 1, (rows, 1))
        return [generator.integers(0, 100, (rows, length)), mask.astype(np.int64)]

    def check(self, program, model, *others):
        for arrays in others:
            with self.subTest([array.shape for array in arrays]):
                self.check_calls(program, arrays, self.outputs_of(model, arrays))

    def ranges(self, program):
        return {str(name): (int(one.lower), one.upper) for name, one in program.range_constraints.items()}

    def saved(self, network):
        path = self.folder / "network.pt"
        torch.jit.script(network.eval()).save(str(path))
        return path

    def test_length_of_sentences(self):
        for model in ("huggingface/bert", "models/bert_tiny/bert_tiny.trace.pt"):
            path = SOURCE / "tests/fixtures" / model
            most = 64 if path.is_file() else 32  # max_position_embeddings
            with self.subTest(model):
                program, said = self.exported(path, self.tokens(4, 12))
                self.assertIn(f"takes 1 to {most} as dimension 1 of input_ids and of attention_mask", said)
                self.assertEqual(self.ranges(program)["s1"][1], most)
                ids, mask = (
                    one.meta["val"] for one in program.graph.nodes if one.name in program.graph_signature.user_inputs
                )
                self.assertEqual([str(size) for size in (*ids.shape, *mask.shape)], ["s0", "s1", "s0", "s1"])
                self.check(program, path, self.tokens(3, 1), self.tokens(1, 7), self.tokens(2, most))
                with self.assertRaises((RuntimeError, AssertionError)):
                    program.module()(*map(torch.from_numpy, self.tokens(2, most + 1)))
                refused = mase_result("run", path, *self.input_words(self.tokens(2, most + 1)))
                self.assertNotEqual(refused.returncode, 0)

    def test_length_of_sequences(self):
        path = SOURCE / "tests/fixtures/models/encoder_tiny/encoder_tiny.script.pt"
        program, said = self.exported(path, self.images((4, 12, 32)))
        self.assertIn("takes any size as dimension 1 of x", said)
        self.check(program, path, *(self.images(shape) for shape in ((1, 1, 32), (3, 2, 32), (2, 31, 32))))

    def test_height_and_width(self):
        for name in ("resnet8", "mobile_tiny"):
            path = SOURCE / f"tests/fixtures/models/{name}/{name}.script.pt"
            program, said = self.exported(path, self.images((4, 3, 32, 32)))
            self.assertIn("takes any size as dimension 2 of x", said)
            self.check(program, path, *(self.images(shape) for shape in ((1, 3, 17, 40), (2, 3, 5, 33))))

    def test_sizes_in_between(self):
        path = self.saved(Heights())
        program, said = self.exported(path, self.images((2, 3, 16, 21)))
        self.assertIn("takes 5 or more as dimension 2 of x", said)  # 3 places for the second layer
        self.check(program, path, *(self.images(shape) for shape in ((1, 3, 5, 8), (3, 3, 19, 32), (2, 3, 64, 6))))
        tokens, plan = program.graph.output_node().args[0]
        rows, height, width = program.range_constraints
        for h, w in ((5, 6), (16, 21), (31, 64)):
            sizes = [size.node.expr.subs({rows: 2, height: h, width: w}) for size in plan.meta["val"].shape[2:]]
            self.assertEqual(sizes, [(h + 1) // 2, (w + 1) // 2])
            self.assertEqual(tokens.meta["val"].shape[1].node.expr.subs({height: h, width: w}), sizes[0] * sizes[1])

    def test_limits(self):
        path = self.saved(Ends())
        program, said = self.exported(path, self.images((2, 12, 4)))
        self.assertIn("takes 8 or more as dimension 1 of x", said)
        self.check(program, path, self.images((3, 8, 4)), self.images((1, 40, 4)), self.images((1, 40, 6)))

    def test_tables_of_positions(self):
        path = self.saved(Positions())
        program, said = self.exported(path, self.tokens(2, 6)[:1])
        self.assertIn("takes 1 to 18 as dimension 1 of ids", said)
        self.check(program, path, self.tokens(3, 1)[:1], self.tokens(2, 18)[:1])

    def test_fixed_sizes(self):
        for name, shape in (("vit_tiny", (2, 3, 40, 32)), ("cnv_small", (2, 3, 48, 48)), ("unet_tiny", (1, 3, 20, 24))):
            (path,) = (SOURCE / "tests/fixtures/models" / name).glob("*.script.pt")
            program, _ = self.exported(path, [np.load(path.parent / "inputs.npy")])
            with self.assertRaises((RuntimeError, AssertionError)):
                program.module()(*map(torch.from_numpy, self.images(shape)))

    def test_round_trip(self):
        path = SOURCE / "tests/fixtures/huggingface/bert"
        arrays = self.tokens(4, 12)
        self.exported(path, arrays)
        again, words = self.folder / "model.pt2", self.input_words(arrays)

        def plain(lines):  # a program does not say where tensors are, and has other names of sizes
            lines = [re.sub(r"to\.\w+\((self=%[\w#]+),.*(dtype=11).*\)", r"to.dtype(\1, \2)", line) for line in lines]
            return [re.sub(r"end=%[\w#]+", "end=N", line) for line in lines]

        self.assertEqual(plain(graph_of(again, *words)), plain(graph_of(path, *words)))
        self.assertNotIn("guard", mase("show", again, *words))
        other = self.tokens(3, 20)
        self.compare(self.outputs_of(again, other), self.outputs_of(path, other))


class Recurrent(Exports):
    """Recurrent layers become ATen's operators, with all weights in one list."""

    def networks(self):
        torch.manual_seed(1)
        first = {"batch_first": True}
        yield Layers(nn.GRU(4, 8, 3, **first)), [(3, 6, 4)]
        yield Layers(nn.GRU(4, 4, bidirectional=True, bias=False, **first)), [(3, 6, 4)]
        yield Layers(nn.RNN(4, 8, 2, nonlinearity="relu", **first)), [(3, 6, 4)]
        yield Layers(nn.RNN(4, 8, bidirectional=False, **first)), [(3, 6, 4)]
        yield OneState(nn.LSTM(4, 8, 2, bidirectional=True, dropout=0.3, **first)), [(3, 6, 4)]
        yield OneState(nn.LSTM(4, 8, proj_size=3, bias=False, **first)), [(3, 6, 4)]
        yield Memory(), [(3, 6, 4), (3, 1, 8)]
        yield RecurrentCells(), [(3, 4)]

    def test_layers(self):
        for network, shapes in self.networks():
            with self.subTest(str(network)):
                path = self.folder / "network.pt"
                torch.jit.script(network.eval()).save(str(path))
                arrays = [torch.randn(shape).numpy() for shape in shapes]
                program, said = self.exported(path, arrays)
                self.assertIn("takes any batch", said)
                self.assertEqual(set(program.state_dict), set(network.state_dict()))
                for rows in (arrays, [np.concatenate([array] * 2) for array in arrays]):
                    self.check_calls(program, rows, self.outputs_of(path, rows))
                found = graph_of(self.folder / "model.pt2", *self.input_words(arrays))
                self.assertEqual(found, graph_of(path, *self.input_words(arrays)))
                torch.export.unflatten(program)(*map(torch.from_numpy, arrays))

    def test_sequences_first_and_without_rows(self):
        for shape in ((6, 3, 4), (6, 4)):
            with self.subTest(shape):
                path = self.folder / "network.pt"
                torch.jit.script(OneState(nn.LSTM(4, 8, 2, bidirectional=True)).eval()).save(str(path))
                arrays = [torch.randn(shape).numpy()]
                program, _ = self.exported(path, arrays)
                self.check_calls(program, arrays, self.outputs_of(path, arrays))

    def test_formats_inside_of_a_layer_are_named(self):
        path = self.folder / "network.pt"
        torch.jit.script(Layers(nn.GRU(4, 8, batch_first=True)).eval()).save(str(path))
        arrays = [torch.randn(3, 6, 4).numpy()]
        checkpoint = self.quantized(path, arrays, {"data_in": "integer(8, 5)", "weight": "integer(8, 6)"}, "gru")
        refused = mase_result("convert", checkpoint, self.folder / "model.pt2")
        self.assertEqual(refused.returncode, 4, refused.stderr)
        self.assertIn("part_0.weight_hh", refused.stderr)
        self.assertIn("--allow-loss leaves them out", refused.stderr)
        program, said = self.exported(checkpoint, [], "--allow-loss")
        self.assertIn("part_0.state", said)
        program, _ = self.exported(checkpoint, [], "--format", "float")
        self.check_calls(program, arrays, self.outputs_of(checkpoint, arrays, "--level", "float"))


class Formats(Exports):
    """Every number format at all ports of a network, also in the profile of the reference system."""

    def check(self, name, formats, batches=()):
        folder = SOURCE / "tests/fixtures/models" / name
        (path,) = folder.glob("*.script.pt")
        arrays = [np.load(one) for one in sorted(folder.glob("input*.npy"))]
        checkpoint = self.quantized(path, arrays, formats)
        program, _ = self.exported(checkpoint, [])
        wanted = self.outputs_of(checkpoint, arrays)
        self.check_calls(program, arrays, wanted)
        self.compare(self.outputs_of(self.folder / "model.pt2", arrays), wanted, "read again")
        for rows in batches:
            others = [np.concatenate([array] * 3)[:rows] for array in arrays]
            self.check_calls(program, others, self.outputs_of(checkpoint, others))
        return program

    def test_formats(self):
        listed = re.findall(r"^\| (\w+) +\| .* (?:true|false) +\|$", mase("list", "formats"), re.MULTILINE)
        self.assertGreater(len(listed), 25)
        for name in listed:
            with self.subTest(name):
                text = "mxint_hardware(8, 8, [1, 1])" if name == "mxint_hardware" else f"{name}()"
                self.check("jsc_tiny", {"data_in": text, "weight": text, "bias": "integer(16, 8)", "data_out": text})

    def test_profile_of_the_reference_system(self):
        for text in ("integer(8, 4)", "minifloat_denorm(8, 4, 7)", "block_fp(8, 8, 127, [1, 16])", "log(8)"):
            with self.subTest(text):
                text = text[:-1] + ", profile=reference)"
                self.check("jsc_tiny", {"data_in": text, "weight": text})

    def test_roundings(self):
        for rounding in ("floor", "nearest_away"):
            for name in ("integer", "minifloat_ieee", "block_fp", "mxint8"):
                with self.subTest(name, rounding=rounding):
                    self.check("jsc_tiny", {"data_in": f"{name}(rounding={rounding})", "weight": "integer(8, 6)"})

    def test_networks(self):
        formats = {"data_in": "integer(8, 5)", "weight": "integer(8, 6)", "bias": "integer(16, 8)"}
        for name in ("lenet", "resnet8", "encoder_tiny", "vit_tiny"):
            with self.subTest(name):
                self.check(name, formats, (1, 9))

    def test_losses_are_named(self):
        arrays = [np.load(SOURCE / "tests/fixtures/models/jsc_tiny/inputs.npy")]
        path = SOURCE / "tests/fixtures/models/jsc_tiny/jsc_tiny.script.pt"
        checkpoint = self.quantized(path, arrays, {"data_in": "integer(8, 5)"})
        program, _ = self.exported(checkpoint, [], "--format", "float")
        self.check_calls(program, arrays, self.outputs_of(checkpoint, arrays, "--level", "float"))


class Files(Exports):
    def test_nothing_is_overwritten_unasked(self):
        path = self.folder / "model.pt2"
        path.write_text("mine")
        refused = mase_result("convert", "jsc-tiny", path)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("exists; name another file, or give --overwrite", refused.stderr)
        self.assertEqual(path.read_text(), "mine")

    def test_endings(self):
        refused = mase_result("convert", "jsc-tiny", self.folder / "model.bin")
        self.assertEqual(refused.returncode, 2)
        for ending in (".onnx", ".pt2", ".pt"):
            self.assertIn(ending, refused.stderr)

    def test_no_half_file_after_an_error(self):
        path = self.folder / "missing" / "model.pt2"
        self.assertNotEqual(mase_result("convert", "no-such-model", path).returncode, 0)
        self.assertFalse(path.exists())
        self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--mase", required=True)
    parser.add_argument("--source", type=Path, required=True)
    options, names = parser.parse_known_args()
    program_cases.program, SOURCE = options.mase, options.source
    unittest.main(argv=[sys.argv[0], *names], warnings="ignore")
