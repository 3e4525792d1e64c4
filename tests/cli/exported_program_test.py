#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exported programs (.pt2): the graph is that of the TorchScript of the same network, and `mase run` gives the same
bits. Networks made by the PyTorch that runs this test cover what the files of tests/fixtures do not have.

usage: exported_program_test.py --mase BINARY --source ROOT [CASE ...]; exits with 77 where torch is missing
"""

import argparse
import copy
import json
import re
import sys
import types
import unittest
import zipfile
from pathlib import Path

try:
    import numpy as np
    import program_cases
    import torch
    from program_cases import Cases, mase, mase_result
    from torch import nn
    from torch._export.serde.serialize import serialize
    from torch.nn import functional as F
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

SOURCE = None
FIXTURES = ("encoder_tiny", "jsc_s", "jsc_tiny", "lenet")


def modules_of(text):
    """Containers, layers and tensors. A strict export has the tensors in the order of their use."""
    return sorted(line for line in text if re.match("  (container|module|tensor) ", line))


def graph_of(model, *words):
    """The text of a graph. An exported program computes every size of an input once, and knows others as numbers; its
    guards say which sizes the export has fixed."""
    lines = []
    for line in mase("show", model, *words).splitlines():
        if line.startswith("  guard") or re.match(r"  %size(_\d+)? :", line):
            continue
        lines.append(re.sub(r"size=\[.*?\]", "size=[...]", line))
    return lines


def functions_of(text):
    """Names and targets of the nodes that are not layers, in their order. TorchScript hands a list on as a whole, whose
    elements an exported program names."""
    calls = (re.match(r"  (%\w+) : .*? = call_(function|method) (\S+)", line) for line in text)
    return [call.groups()[1:] for call in calls if call and call[3] != "_operator.getitem"]


class Programs(Cases):
    def compare(self, one, other):
        self.assertEqual([array.shape for array in one], [array.shape for array in other])
        for i, (left, right) in enumerate(zip(one, other)):
            np.testing.assert_array_equal(left, right, err_msg=f"output {i}")


class Fixtures(Programs):
    def test_graph_is_that_of_torchscript(self):
        for name in FIXTURES:
            folder = SOURCE / "tests/fixtures/models" / name
            for path in sorted(folder.glob("*.pt2")):
                with self.subTest(path.name):
                    words = ("--input", folder / "inputs.npy")
                    self.assertEqual(graph_of(path, *words), graph_of(folder / f"{name}.script.pt", *words))

    def test_bits(self):
        for name in FIXTURES:
            folder = SOURCE / "tests/fixtures/models" / name
            arrays = [np.load(folder / "inputs.npy")]
            for path in sorted(folder.glob("*.pt2")):
                with self.subTest(path.name):
                    self.compare(self.outputs_of(path, arrays), self.outputs_of(folder / f"{name}.script.pt", arrays))

    def test_batch(self):
        folder = SOURCE / "tests/fixtures/models/jsc_tiny"
        array = np.concatenate([np.load(folder / "inputs.npy")] * 2)
        found = self.outputs_of(folder / "jsc_tiny.pt2", [array])
        self.assertEqual(found[0].shape[0], 8)
        # A program that was exported for a batch of 4 takes others too, where rows are kept apart.
        static = self.outputs_of(folder / "jsc_tiny.static.pt2", [array])
        self.compare(static, found)
        words = ("--input-shape", "4,15", "--output", self.folder / "z.npy")
        refused = mase_result("run", folder / "jsc_tiny.static.pt2", *words)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("was exported for [4, 16]; torch.export.export has dynamic_shapes", refused.stderr)

    def test_batch_of_a_program_that_mixes_rows(self):
        class Mixed(nn.Module):
            def forward(self, x):
                return x - x.mean(0)

        path = self.folder / "mixed.pt2"
        torch.export.save(torch.export.export(Mixed(), (torch.zeros(3, 2),)), path)
        refused = mase_result("run", path, "--input-shape", "5,2", "--output", self.folder / "y.npy")
        self.assertEqual(refused.returncode, 4)
        self.assertIn("exported for the batch 3", refused.stderr)
        self.assertIn("'mean'", refused.stderr)

    def test_sizes_for_which_the_model_is_another_program(self):
        """A run gives what the program gives, or is refused where PyTorch refuses it."""

        def model(function):
            module = nn.Module()
            module.forward = types.MethodType(function, module)
            return module

        auto = torch.export.Dim.AUTO
        x = torch.arange(24.0).reshape(4, 6)
        ran = set()
        for name, function, examples in (
            ("a number", lambda self, x: x.view(2, -1) * 2, (x[:2],)),
            ("a branch", lambda self, x: x * 2 if x.shape[0] < 10 else x * 3, (x,)),
            ("a rest", lambda self, x: x * 2 if x.shape[0] % 2 == 0 else x * 3, (x,)),
            ("one size", lambda self, x: x * 2 if x.shape[0] != 7 else x * 3, (x,)),
            ("two sizes", lambda self, x: x * 2 if x.shape[0] > x.shape[1] else x * 3, (x.T.contiguous(),)),
            ("parts", lambda self, x: x.reshape(2, -1) * 2, (x,)),
            ("two inputs", lambda self, x, y: x * 2 if x.shape[0] == y.shape[0] else x * 3, (x, x)),
        ):
            every = ({0: auto, 1: auto},) if name == "two sizes" else ({0: auto},) * len(examples)
            program = torch.export.export(model(function), examples, dynamic_shapes=every)
            path = self.folder / "sizes.pt2"
            torch.export.save(program, path)
            for rows in (2, 3, 4, 7, 12):
                inputs = [torch.rand(rows, one.shape[1]) for one in examples]
                with self.subTest(name, rows=rows):
                    try:
                        wanted = program.module()(*inputs)
                    except (AssertionError, RuntimeError):
                        words = [word for one in examples for word in ("--input-shape", f"{rows},{one.shape[1]}")]
                        refused = mase_result("run", path, *words, "--output", self.folder / "y.npy")
                        self.assertIn(refused.returncode, (2, 4), refused.stderr)
                        self.assertIn("size(x, 0)", refused.stderr)
                        ran.add("refused")
                        continue
                    self.compare(self.outputs_of(path, [one.numpy() for one in inputs]), [wanted.numpy()])
                    ran.add("same")
        self.assertEqual(ran, {"refused", "same"})

    def test_archives_of_torch_2_7(self):
        """torch 2.7 and earlier wrote the graph as one entry, and weights as files of torch.save; stock PyTorch still
        reads these."""
        torch.manual_seed(0)
        network, example = Blocks().eval(), torch.randn(3, 4, 6)
        parts = serialize(torch.export.export(network, (example,)))
        path = self.folder / "old.pt2"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("serialized_exported_program.json", parts.exported_program)
            archive.writestr("serialized_state_dict.pt", parts.state_dict)
            archive.writestr("serialized_constants.pt", parts.constants)
            archive.writestr("serialized_example_inputs.pt", parts.example_inputs)
            archive.writestr("version", "8.8")
        with torch.no_grad():
            wanted = leaves(torch.export.load(path).module()(example))
        self.compare(self.outputs_of(path, [example.numpy()]), wanted)
        self.assertIn("call_module same aten::linear", mase("show", path))


def nodes_of(document):
    return document["graph_module"]["graph"]["nodes"]


def rewritten(source, path, change):
    """The archive with a graph that `change` has altered."""
    archive = zipfile.ZipFile(source)
    writer = torch._C.PyTorchFileWriter(str(path))
    for name in archive.namelist():
        data, name = archive.read(name), name.split("/", 1)[1]
        if name == "models/model.json":
            document = json.loads(data)
            change(document)
            data = json.dumps(document).encode()
        if name.startswith(("data", "models", "archive")):
            writer.write_record(name, data, len(data))
    writer.write_end_of_file()
    return path


class Refusals(Programs):
    """Programs that are damaged or have no counterpart: the message names what is wrong and what helps."""

    def check(self, path, *texts, code=3):
        done = mase_result("show", path)
        self.assertEqual(done.returncode, code, done.stderr)
        for text in (str(path), *texts):
            self.assertIn(text, done.stderr)

    def changed(self, change):
        """jsc_tiny.pt2 with another graph."""
        return rewritten(SOURCE / "tests/fixtures/models/jsc_tiny/jsc_tiny.pt2", self.folder / "changed.pt2", change)

    def test_damage(self):
        def unknown_name(document):
            nodes_of(document)[1]["inputs"][0]["arg"] = {"as_tensor": {"name": "nobody"}}

        def missing_argument(document):
            del nodes_of(document)[1]["inputs"][0]

        self.check(self.changed(lambda document: document["graph_module"].pop("signature")), "'signature' is missing")
        self.check(self.changed(lambda document: document["schema_version"].update(major=99)), "version 99", code=4)
        self.check(self.changed(unknown_name), "'nobody', which no input and no earlier node gives", "'seq_blocks.1'")
        self.check(self.changed(missing_argument), "'seq_blocks.1'")
        self.check(
            self.changed(lambda document: nodes_of(document)[0].update(target="torch.ops.my.op")), "ATen", code=4
        )

    def test_branches(self):
        class Branch(nn.Module):
            def forward(self, x):
                return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,))

        path = self.folder / "branch.pt2"
        torch.export.save(torch.export.export(Branch(), (torch.zeros(2, 3),)), path)
        self.check(path, "torch.ops.higher_order.cond", "choose between the results of both", "torch.where", code=4)

    def test_sizes_that_depend_on_values(self):
        class Chosen(nn.Module):
            def forward(self, x):
                return x[x > 0].sum()

        path = self.folder / "chosen.pt2"
        torch.export.save(torch.export.export(Chosen(), (torch.randn(2, 3),)), path)
        self.check(path, "torch.ops.aten.index.Tensor", "depends on values", "torch.where", code=4)


class Subscripts(nn.Module):
    def forward(self, x):
        first, rest = x[:, 0], x[:, 1:, ::2]
        parts = F.softmax(rest, dim=-1).chunk(2, dim=1)
        turned = torch.transpose(first, 0, 1)
        return {
            "first": first @ first.t(),
            "turned": turned.transpose(0, 1),
            "parts": torch.cat(parts, -1),
            "new": x[:, None, -1] ** 2,
        }


class Blocks(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Sequential(nn.Linear(6, 6), nn.LayerNorm(6), nn.Dropout(0.1)) for _ in range(2))
        self.same = nn.Linear(6, 6)
        self.scale = nn.Parameter(torch.tensor([0.5]))
        self.register_buffer("shift", torch.arange(6.0))

    def forward(self, x):
        for layer in self.layers:
            x = x + F.gelu(layer(x))
        x = self.same(self.same(x)) * self.scale + self.shift
        return x.view(x.size(0), -1), (x / 2).mean(dim=1)


class InPlace(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(6, 6)
        self.drop = nn.Dropout(0.5, inplace=True)
        self.act = nn.ReLU6(inplace=True)
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x):
        y = self.linear(x)
        y += x
        y = self.drop(y)
        parts = y.view(-1, 2, 3)
        parts[:, 0] *= 2
        turned = y.t()
        turned[0] = 1.0
        y[y > 0.5] = 0.25
        zeros = torch.zeros_like(y)
        zeros[:, 1:3] = y[:, 2:4]
        zeros.clamp_(-1, 1)
        rows = y.unsqueeze(1).repeat(1, 4, 1).reshape(-1, 24)
        rows.mul_(0.5)
        columns = rows.transpose(0, 1)
        columns[2] += 1
        rows.add_(0.1)
        y.select(1, 3).zero_()
        self.count += 1
        return self.act(y) + zeros, turned, rows, parts, columns, y


class Copies(nn.Module):
    """Conversions and reshapes return their input or a copy, which a change in place tells apart."""

    def forward(self, x):
        same, wide = x.to(torch.float32), x.to(torch.float64)
        flat = x.reshape(-1)
        table = torch.tensor([1.0, 2.0])
        table[0] = 5
        x.mul_(3)
        turned = torch.relu(x).t()
        turned.add_(1)
        return same + 1, wide + 1, flat + 1, table, turned


class Arithmetic(nn.Module):
    """Numbers that sizes give, also with fractions; results within results, and None."""

    def forward(self, x):
        rows, columns = x.shape
        scaled = x / (rows**0.5) * (rows / columns)
        kept = torch.zeros(max(rows, 3), min(rows, 5)) + (2 * rows) ** -0.5
        part = x * 1
        part.narrow(1, -2, 2).mul_(2)
        part.narrow(0, 1, 1).add_(1)
        return scaled, {"kept": kept, "none": None}, (part, [x + rows])


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(20, 8)
        self.places = nn.Parameter(torch.randn(5, 8))
        self.encoder = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, norm_first=True)

    def forward(self, words):
        mask = torch.triu(torch.full((5, 5), float("-inf")), 1)
        x = self.encoder(self.embedding(words) + self.places, src_mask=mask)
        return x, x.argmax(-1)


class Images(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.InstanceNorm2d(3)
        self.layers = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding="same"), nn.BatchNorm2d(8), nn.SiLU(), nn.MaxPool2d(2),
            nn.ConvTranspose2d(8, 4, 2, stride=2), nn.GroupNorm(2, 4), nn.Hardswish(), nn.Upsample(scale_factor=2),
            nn.AdaptiveAvgPool2d((4, 4)), nn.Flatten(), nn.Linear(64, 7), nn.BatchNorm1d(7, affine=False), nn.PReLU(),
            nn.ReLU6(),
        )  # fmt: skip

    def forward(self, x):
        resized = F.interpolate(x, size=(5, 5), mode="bilinear")
        return self.layers(self.norm(x)), resized, F.pad(x, (1, 1, 0, 2), mode="reflect")


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(6, 5, 2, bidirectional=True, batch_first=True)
        self.cell = nn.LSTMCell(6, 4)

    def forward(self, x):
        return *self.gru(x), *self.cell(x[:, 0])


class WithoutGradients(nn.Module):
    """Graphs within the graph, as rotary embeddings have them."""

    def forward(self, x):
        with torch.no_grad():
            angles = (x * 2).to(x.device, torch.float32)
            with torch.autocast("cpu", enabled=False):
                waves = angles.cos(), angles.sin()
        return waves[0] * x + waves[1], angles


class Decomposed(nn.Module):
    """Layers that PyTorch's decompositions write in several operators."""

    def __init__(self):
        super().__init__()
        self.activations = nn.ModuleList(
            [nn.SiLU(), nn.Hardswish(), nn.Hardsigmoid(), nn.Mish(), nn.Softplus(), nn.Softplus(2, 10), nn.CELU(0.5)]
            + [nn.LogSigmoid(), nn.Hardshrink(), nn.Softshrink(0.25), nn.PReLU(), nn.PReLU(4), nn.RMSNorm(6)]
            + [nn.RMSNorm((4, 6), 1e-3), nn.RMSNorm(6, elementwise_affine=False)]
        )
        self.turned, self.plain = nn.Linear(4, 4), nn.Linear(4, 4, bias=False)

    def forward(self, x):
        turned = x.transpose(1, 2)
        heads = turned.unflatten(1, (2, 3)).transpose(0, 1)
        return *(layer(x) for layer in self.activations), self.turned(turned), self.plain(heads)


class Resized(nn.Module):
    """A network for images whose height and width are multiples of 4."""

    def __init__(self):
        super().__init__()
        self.down, self.norm, self.deep = nn.Conv2d(3, 4, 3, padding=1), nn.GroupNorm(2, 4), nn.Conv2d(4, 8, 3, 2, 1)
        self.up = nn.ConvTranspose2d(8, 4, 2, 2)

    def forward(self, x):
        fine = self.norm(self.down(F.pad(F.max_pool2d(x, 2), (1, 1, 0, 0), mode="circular")))[..., 1:-1]
        return torch.cat([self.up(self.deep(fine)), fine], 1)


class Uncommon(nn.Module):
    """Functions whose decompositions are operators of their own."""

    def __init__(self):
        super().__init__()
        self.words = nn.EmbeddingBag(20, 6, mode="mean", padding_idx=3)
        self.bags = nn.EmbeddingBag(20, 6, mode="sum")
        self.leaky, self.wrapped = nn.RReLU(), nn.CircularPad1d((1, 2))
        self.pool = nn.AdaptiveAvgPool3d((2, 1, 3))

    def forward(self, x):
        words = x.abs().long() % 20
        matrix = x @ x.mT + 4 * torch.eye(4)
        written = torch.empty_like(x).fill_(2) + x.new_empty(6).copy_(x[0, 0])
        return (
            torch.cdist(x, x * 2), torch.cdist(x, x * 2, p=1.0), torch.linalg.det(matrix), self.leaky(x),
            self.words(words[:, 0]), self.bags(words[:, 1]), self.wrapped(x), written, F.pad(x, (1, 2), value=1.5),
            self.pool(x.unsqueeze(1)),
        )  # fmt: skip


class Tied(nn.Module):
    """A matrix that is an embedding and a layer."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(20, 8)
        self.head = nn.Linear(8, 20, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, words):
        return self.head(F.relu(self.embedding(words)))


def networks():
    generator = torch.Generator().manual_seed(1)

    def normal(*shape):
        return torch.randn(*shape, generator=generator)

    return {
        "subscripts": (Subscripts(), normal(3, 5, 6)),
        "blocks": (Blocks(), normal(3, 4, 6)),
        "in place": (InPlace(), normal(4, 6)),
        "copies": (Copies(), normal(3, 4)),
        "arithmetic": (Arithmetic(), normal(4, 6)),
        "encoder": (Encoder(), torch.randint(0, 20, (3, 5), generator=generator)),
        "without gradients": (WithoutGradients(), normal(3, 4)),
        "tied": (Tied(), torch.randint(0, 20, (3, 5), generator=generator)),
        "images": (Images(), normal(2, 3, 8, 8)),
        "recurrent": (Recurrent(), normal(3, 4, 6)),
        "uncommon": (Uncommon(), 9 * normal(3, 4, 6)),
    }


class Cache(nn.Module):
    """Keeps rows and a place, and counts what nobody reads."""

    def __init__(self):
        super().__init__()
        self.key = nn.Linear(4, 4)
        self.register_buffer("rows", torch.zeros(1, 8, 4))
        self.register_buffer("place", torch.zeros(1, dtype=torch.int64))
        self.register_buffer("idle", torch.zeros(1))

    def forward(self, x):
        self.rows.index_copy_(1, self.place, self.key(x))
        self.place += 1
        self.idle += 1
        return F.relu(x @ self.rows.transpose(1, 2)) @ self.rows


class Hidden(nn.Module):
    """Keeps a buffer of a part, which only the layer of another part reads."""

    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(3, 5)
        self.part = nn.Module()
        self.part.register_buffer("h", torch.zeros(2, 5))
        self.norm = nn.BatchNorm1d(5)

    def forward(self, x):
        h = self.cell(x, self.part.h)
        self.part.h.copy_(h)
        return {"y": self.norm(h), "x": x}


class Means(nn.Module):
    """Keeps what has the name of an input, and what decides only what is kept."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.ones(3))
        self.register_buffer("step", torch.ones(3))
        self.register_buffer("growth", torch.ones(3))

    def forward(self, mean):
        self.mean.mul_(0.5).add_(mean.mean(0) * self.step)
        self.mean[0] = 7
        self.step.add_(self.growth)
        self.growth.view(-1)[1:] *= 2
        return mean - self.mean, mean


class Scaled(nn.Linear):
    """Changes a part of a parameter."""

    def forward(self, x):
        with torch.no_grad():
            self.weight[0].mul_(2)
        return F.linear(x, self.weight, self.bias)


class Before(nn.Module):
    """Returns what the last run was given."""

    def __init__(self):
        super().__init__()
        self.register_buffer("last", torch.zeros(2, 3))

    def forward(self, x):
        before = self.last.clone()
        self.last.copy_(x)
        return before


def leaves(result):
    if result is None:
        return []
    if isinstance(result, torch.Tensor):
        return [result.numpy()]
    values = result.values() if isinstance(result, dict) else result
    return [leaf for value in values for leaf in leaves(value)]


# As exported, by torch.dynamo, with operators in place replaced, and with PyTorch's decompositions.
FORMS = {
    "plain": lambda export: export(strict=False),
    "strict": lambda export: export(strict=True),
    "functional": lambda export: export(strict=False).run_decompositions({}),
    "decomposed": lambda export: export(strict=False).run_decompositions(),
}


class State(Programs):
    """What a model keeps from run to run is an input behind the others, and a result by name."""

    def networks(self):
        generator = torch.Generator().manual_seed(2)
        torch.manual_seed(2)
        shapes = {Cache(): (1, 1, 4), Hidden(): (2, 3), Means(): (4, 3), Scaled(3, 3): (2, 3), Before(): (2, 3)}
        for network, shape in shapes.items():
            yield network.eval(), [torch.randn(shape, generator=generator) for _ in range(3)]

    def exported(self, network, example, form):
        path = self.folder / "state.pt2"
        network = copy.deepcopy(network)
        torch.export.save(FORMS[form](lambda strict: torch.export.export(network, (example,), strict=strict)), path)
        return path

    def run_with(self, path, example, state):
        """The results by name."""
        words = []
        for name, array in state.items():
            np.save(self.folder / f"{name}.npy", array)
            words += ["--input", f"{name}={self.folder / name}.npy" if len(state) > 1 else self.folder / f"{name}.npy"]
        said = mase("run", path, *words, "--output", self.folder / "y.npy", "--overwrite")
        files = [Path(line.split(":")[0]) for line in said.splitlines() if ".npy: " in line]
        return {file.stem[2:]: np.load(file) for file in files}

    def test_runs(self):
        for network, examples in self.networks():
            for form in ("plain", "decomposed"):
                with self.subTest(type(network).__name__, form=form):
                    path = self.exported(network, examples[0], form)
                    stock, state = copy.deepcopy(network), {}
                    (first,) = [line for line in mase("show", path).splitlines() if "placeholder" in line][:1]
                    argument = first.split()[-1]
                    for example in examples:
                        given = {argument: example.numpy()} | state
                        with torch.no_grad():
                            wanted = leaves(stock(example.clone()))
                        found = self.run_with(path, example, given)
                        for one, other in zip(found.values(), wanted):
                            # Decompositions compute a cell by other steps.
                            np.testing.assert_allclose(one, other, rtol=0, atol=1e-6)
                        kept = list(found.items())[len(wanted) :]
                        self.assertTrue(kept)
                        state = {name + "_state" * (name == argument): array for name, array in kept}

    def test_graph_is_that_of_torchscript(self):
        for network, examples in self.networks():
            if isinstance(network, Means):  # a list of Python has other slices
                continue
            scripted = self.folder / "state.pt"
            torch.jit.script(copy.deepcopy(network)).save(str(scripted))
            np.save(self.folder / "x.npy", examples[0].numpy())
            unread = re.compile("tensor idle")  # TorchScript keeps tensors that nobody reads
            wanted = [line for line in graph_of(scripted, "--input", self.folder / "x.npy") if not unread.search(line)]
            for form in ("plain", "strict"):
                with self.subTest(type(network).__name__, form=form):
                    found = graph_of(self.exported(network, examples[0], form))
                    self.assertEqual(sorted(found), sorted(wanted))

    def test_a_checkpoint_keeps_what_the_state_begins_with(self):
        network, (example, *_) = next(self.networks())
        network.rows += 1
        path = self.exported(network, example, "plain")
        np.save(self.folder / "x.npy", example.numpy())
        (self.folder / "none.toml").write_text("[passes.count_dropout]\n")
        words = ("--config", self.folder / "none.toml", "--project-dir", self.folder, "--project", "p", "-q")
        mase("transform", path, "--input", self.folder / "x.npy", *words)
        self.compare(self.outputs_of(self.folder / "p", [example.numpy()]), self.outputs_of(path, [example.numpy()]))
        refused = mase_result("run", path, *["--input", self.folder / "x.npy"] * 5, "--output", self.folder / "y.npy")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("5 example inputs were given, but the model has 3", refused.stderr)

    def test_state_is_given_in_the_order_of_the_inputs(self):
        """What the model changes for no result ("idle") is not among them."""
        network, (example, *_) = next(self.networks())
        path = self.exported(network, example, "plain")
        place, rows = np.full(1, 3), np.random.default_rng(1).normal(size=(1, 8, 4)).astype("float32")
        named = self.run_with(path, example, {"x": example.numpy(), "place": place, "rows": rows})
        self.compare(self.outputs_of(path, [example.numpy(), place, rows]), list(named.values()))
        self.assertEqual(named["place"], 4)
        network.place.copy_(torch.from_numpy(place))
        network.rows.copy_(torch.from_numpy(rows))
        with torch.no_grad():
            np.testing.assert_allclose(named["output"], network(example).numpy(), rtol=0, atol=1e-6)


class Weights(Programs):
    """--load takes the weights of a program, for a model of any kind."""

    def loaded(self, model, weights, arrays):
        (self.folder / "none.toml").write_text("[passes.count_dropout]\n")
        words = ("--config", self.folder / "none.toml", "--project-dir", self.folder, "--project", "p", "-q")
        return mase_result("transform", model, *self.input_words(arrays), "--load", weights, *words)

    def test_load(self):
        folder = SOURCE / "tests/fixtures/models/jsc_tiny"
        arrays = [np.load(folder / "inputs.npy")]
        other = torch.jit.load(str(folder / "jsc_tiny.script.pt"))
        with torch.no_grad():
            for parameter in other.parameters():
                parameter.normal_()
        other.save(str(self.folder / "other.pt"))
        wanted = self.outputs_of(folder / "jsc_tiny.pt2", arrays)
        self.assertFalse(np.array_equal(self.outputs_of(self.folder / "other.pt", arrays)[0], wanted[0]))
        loaded = self.loaded(self.folder / "other.pt", folder / "jsc_tiny.pt2", arrays)
        self.assertEqual(loaded.returncode, 0, loaded.stderr)
        self.compare(self.outputs_of(self.folder / "p", arrays), wanted)

    def test_other_weights_are_refused(self):
        folder = SOURCE / "tests/fixtures/models"
        refused = self.loaded("jsc-tiny", folder / "lenet/lenet.pt2", [])
        self.assertEqual(refused.returncode, 3, refused.stderr)
        self.assertIn("do not fit the model", refused.stderr)
        self.assertIn("missing in the file: seq_blocks.2.weight float32[5, 16]", refused.stderr)


class Networks(Programs):
    def exported(self, network, example, form):
        def export(strict):
            batch = torch.export.Dim("batch", min=2, max=64)
            return torch.export.export(network, (example,), dynamic_shapes=({0: batch},), strict=strict)

        path = self.folder / f"{form}.pt2"
        torch.export.save(FORMS[form](export), path)
        return path

    def test_results(self):
        for name, (network, example) in networks().items():
            network.eval()
            taller = torch.cat([example, example[:1]])
            for form in FORMS:
                with self.subTest(name, form=form):
                    path = self.exported(network, example, form)
                    for rows in (example, taller):
                        found = self.outputs_of(path, [rows.numpy()])
                        with torch.no_grad():
                            wanted = leaves(network(rows.clone()))
                        self.assertEqual([one.shape for one in found], [one.shape for one in wanted])
                        for one, other in zip(found, wanted):
                            # Decompositions compute a norm by other steps.
                            np.testing.assert_allclose(one, other, rtol=0, atol=1e-5 * max(1, abs(other).max()))

    def test_sizes_that_are_multiples(self):
        """Strict exports need a name for each size, and all forms compute sizes within layers."""
        torch.manual_seed(4)
        network = Resized().eval()
        height, width = (torch.export.Dim(name, min=2, max=64) for name in ("height", "width"))
        sizes = {0: torch.export.Dim("batch", min=1, max=64), 2: 4 * height, 3: 4 * width}
        path = self.folder / "resized.pt2"
        for form in FORMS:

            def export(strict):
                example = torch.zeros(2, 3, 16, 24)
                return torch.export.export(network, (example,), dynamic_shapes=(sizes,), strict=strict)

            torch.export.save(FORMS[form](export), path)
            for shape in ((2, 3, 16, 24), (1, 3, 40, 8)):
                with self.subTest(form, shape=shape):
                    example = torch.randn(shape)
                    with torch.no_grad():
                        wanted = network(example).numpy()
                    (found,) = self.outputs_of(path, [example.numpy()])
                    np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-6)

    def test_layers_are_those_of_torchscript(self):
        for name in ("blocks", "images", "recurrent", "tied", "subscripts"):
            network, example = networks()[name]
            scripted = self.folder / "network.pt"
            torch.jit.script(network.eval()).save(str(scripted))
            np.save(self.folder / "x.npy", example.numpy())
            wanted = graph_of(scripted, "--input", self.folder / "x.npy")
            for form in ("plain", "strict"):
                with self.subTest(name, form=form):
                    found = graph_of(self.exported(network, example, form))
                    self.assertEqual(modules_of(found), modules_of(wanted))
                    if form == "plain":
                        self.assertEqual(functions_of(found), functions_of(wanted))

    def test_layers_of_decompositions(self):
        network, example = networks()["blocks"]
        wanted = modules_of(graph_of(self.exported(network.eval(), example, "plain")))
        found = modules_of(graph_of(self.exported(network, example, "decomposed")))
        dropouts = {line for line in wanted if "Dropout" in line}  # decompositions drop these
        self.assertEqual(set(wanted) - set(found), dropouts)

    def test_activations_and_products_of_turned_data(self):
        """Decompositions write these in several operators."""
        torch.manual_seed(3)
        network, example = Decomposed().eval(), torch.randn(3, 4, 6)
        wanted = modules_of(graph_of(self.exported(network, example, "plain")))
        found = modules_of(graph_of(self.exported(network, example, "decomposed")))
        self.assertEqual(found, wanted)
        self.assertEqual(sum(line.startswith("  module ") for line in found), 17)

    def test_functions_of_decompositions(self):
        class Functions(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight, self.slope = nn.Parameter(torch.randn(5, 6)), nn.Parameter(torch.rand(4))

            def forward(self, x):
                x = F.silu(F.linear(x, self.weight))
                return F.pad(F.prelu(x, self.slope), (1, 2)), F.threshold(x, 0.1, 2), F.softshrink(x), F.logsigmoid(x)

        torch.manual_seed(3)
        network, example = Functions().eval(), torch.randn(3, 4, 6)
        wanted = functions_of(graph_of(self.exported(network, example, "plain")))
        path = self.exported(network, example, "decomposed")
        self.assertEqual(functions_of(graph_of(path)), wanted)
        with torch.no_grad():
            for one, other in zip(self.outputs_of(path, [example.numpy()]), leaves(network(example))):
                np.testing.assert_allclose(one, other, rtol=0, atol=2e-6)

    def test_what_only_looks_like_an_activation_or_a_product(self):
        """Other constants, another order of operands and another matrix have other results."""
        torch.manual_seed(3)
        network, example = Decomposed().eval(), torch.randn(3, 4, 6)
        plain = self.exported(network, example, "decomposed")

        def find(document, target, place=0):
            return [node for node in nodes_of(document) if node["target"] == f"torch.ops.aten.{target}"][place]

        def bound(document):
            for node in nodes_of(document):
                if node["target"] == "torch.ops.aten.clamp.default" and len(node["inputs"]) == 3:
                    node["inputs"][2]["arg"] = {"as_int": 5}

        def scale(document):
            find(document, "div.Tensor")["inputs"][1]["arg"] = {"as_float": 1.25}

        def order(document):
            where = find(document, "where.self")
            where["inputs"][1]["arg"], where["inputs"][2]["arg"] = where["inputs"][2]["arg"], where["inputs"][1]["arg"]

        def turn(document):  # the matrix is square
            for node in nodes_of(document):
                if node["target"] == "torch.ops.aten.permute.default" and node["inputs"][1]["arg"] == {
                    "as_ints": [1, 0]
                }:
                    node["inputs"][1]["arg"] = {"as_ints": [0, 1]}

        def weigh(document):
            added = [n for n in nodes_of(document) if n["target"] == "torch.ops.aten.add.Tensor" and "turned" in str(n)]
            added[0]["inputs"].append({"name": "alpha", "arg": {"as_float": 2.0}, "kind": 2})

        def shrink(document):
            find(document, "le.Scalar")["inputs"][1]["arg"] = {"as_float": -0.5}

        def spread(document):  # a mean over another dimension
            find(document, "mean.dim")["inputs"][1]["arg"] = {"as_ints": [1]}

        def half(document):
            find(document, "full.default")["inputs"][1]["arg"] = {"as_float": -0.25}

        changes = {"bound": bound, "scale": scale, "order": order, "turn": turn, "weigh": weigh}
        changes |= {"shrink": shrink, "spread": spread, "half": half}
        for name, change in changes.items():
            with self.subTest(name):
                changed = rewritten(plain, self.folder / "changed.pt2", change)
                with torch.no_grad():
                    wanted = leaves(torch.export.load(changed).module()(example))
                for one, other in zip(self.outputs_of(changed, [example.numpy()]), wanted):
                    np.testing.assert_allclose(one, other, rtol=0, atol=2e-6)

    def test_what_only_looks_like_a_layer(self):
        """A file may say that other operators were recorded in a linear layer or a pool; its results are theirs."""

        class Pooled(nn.Module):
            def __init__(self):
                super().__init__()
                self.pool, self.linear = nn.AdaptiveAvgPool2d(1), nn.Linear(3, 3)

            def forward(self, x):
                return self.linear(x), self.pool(x)

        def turn(node):  # the transpose of the weight is none
            if node["target"] == "torch.ops.aten.permute.default":
                node["inputs"][1]["arg"] = {"as_ints": [0, 1]}

        def fold(node):  # the mean is over another dimension
            if node["target"] == "torch.ops.aten.mean.dim":
                node["inputs"][1]["arg"] = {"as_ints": [-1, 1]}

        torch.manual_seed(0)
        example = torch.randn(2, 3, 3, 3)
        program = torch.export.export(Pooled().eval(), (example,)).run_decompositions()
        for name, change in (("turn", turn), ("fold", fold)):
            with self.subTest(name):
                path = self.folder / "plain.pt2"
                torch.export.save(program, path)
                changed = rewritten(path, self.folder / f"{name}.pt2", lambda d: [change(n) for n in nodes_of(d)])
                with torch.no_grad():
                    wanted = leaves(torch.export.load(changed).module()(example))
                found = self.outputs_of(changed, [example.numpy()])
                self.assertEqual([one.shape for one in found], [one.shape for one in wanted])
                for one, other in zip(found, wanted):
                    np.testing.assert_allclose(one, other, rtol=0, atol=1e-6)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--mase", required=True)
    parser.add_argument("--source", type=Path, required=True)
    options, names = parser.parse_known_args()
    program_cases.program, SOURCE = options.mase, options.source
    unittest.main(argv=[sys.argv[0], *names], warnings="ignore")
