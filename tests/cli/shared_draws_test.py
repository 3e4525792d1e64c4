#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a row draws does not depend on the number of processes: one process runs stock LibTorch's operators, and
several run them with the numbers of the whole batch.

usage: shared_draws_test.py --mase BINARY --source ROOT; exits with 77 where torch is missing
"""

import argparse
import sys
import unittest

try:
    import numpy as np
    import program_cases
    import torch
    from program_cases import Cases, mase, mase_result
    from torch import nn
    from torch.nn import functional
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

torch.set_num_threads(1)
ROWS, TOKENS, WIDTH, STEPS, RATE = 90, 6, 8, 3, 0.05


class Draws(nn.Module):
    """A layer that draws, of rows of TOKENS tokens, between two that are trained."""

    def __init__(self, layer):
        super().__init__()
        self.first, self.layer, self.last = nn.Linear(WIDTH, WIDTH), layer, nn.Linear(TOKENS * WIDTH, 3)

    def forward(self, x):
        return self.last(self.layer(self.first(x)).flatten(1))


class Recurrent(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x)[0]


class Attention(nn.Module):
    """Heads of 4 numbers. Weights are always dropped, since a function has no mode of its own."""

    def __init__(self, is_causal, masked):
        super().__init__()
        self.is_causal = is_causal
        self.register_buffer("mask", torch.arange(TOKENS * TOKENS).view(TOKENS, TOKENS) % 3 != 1 if masked else None)

    def forward(self, x):
        x = x.view(x.size(0), TOKENS, 2, WIDTH // 2).transpose(1, 2)
        x = functional.scaled_dot_product_attention(x, x, x, self.mask, 0.3, self.is_causal)
        return x.transpose(1, 2).flatten(2)


class NativeDropout(nn.Module):
    def forward(self, x):
        return torch.native_dropout(x, 0.3, True)[0]


class RandomSlopes(nn.Module):
    def forward(self, x):
        return functional.rrelu(x, training=True)


def tensors(file):
    return torch.jit.load(file).state_dict()


class SharedDraws(Cases):
    def setUp(self):
        super().setUp()
        random = np.random.default_rng(5)
        np.save(self.folder / "x.npy", random.standard_normal((ROWS, TOKENS, WIDTH), dtype=np.float32))
        np.save(self.folder / "y.npy", random.integers(0, 3, ROWS))

    def words(self, model, project, processes, rows, *more):
        return [
            *["train", model, "npy", "--data-dir", self.folder, "--nproc", processes],
            *["--batch-size", rows // processes, "--max-steps", STEPS, "--learning-rate", RATE],
            *["--training-optimizer", "sgd", "--project-dir", self.folder, "--project", project, "-q", *more],
        ]

    def trained(self, model, project, processes, *more, rows=36):
        mase(*self.words(model, project, processes, rows, *more))
        return tensors(self.folder / project / "software/training_ckpts/last.pt")

    def check_close(self, one, several, start):
        """Sums of 36 * 6 rows of numbers below 1 in another order differ by at most 36 * 6 * 2^-24 = 1.3e-5 each,
        and STEPS steps with momentum make at most 0.3 of that. Other draws would move weights by about 1e-3."""
        self.assertEqual(sorted(one), sorted(several))
        moved = max((one[name].float() - start[name].float()).abs().max().item() for name in start if name in one)
        self.assertGreater(moved, 1e-3)
        for name, values in one.items():
            self.assertLess((values.float() - several[name].float()).abs().max().item(), 1e-5, name)

    def check(self, name, layer):
        torch.manual_seed(1)
        model = Draws(layer)
        file = self.folder / f"{name}.pt"
        example = torch.randn(4, TOKENS, WIDTH)
        if isinstance(layer, Attention):
            torch.jit.trace(model.eval(), example, check_trace=False).save(file)
        else:
            torch.jit.script(model.eval()).save(file)
        one = self.trained(file, f"{name}-1", 1)
        for processes in (2, 3):
            self.check_close(one, self.trained(file, f"{name}-{processes}", processes), model.state_dict())
        # Shards have the same bits in any number of processes, and the draws of the whole batch.
        shards = self.trained(file, f"{name}-shards", 1, "--shards", 3)
        self.check_close(one, shards, model.state_dict())
        for other in (self.trained(file, f"{name}-two", 2, "--shards", 3), self.trained(file, f"{name}-three", 3)):
            for path, values in shards.items():
                self.assertTrue(torch.equal(values, other[path]), path)

    def test_layers_of_dropout(self):
        for name, layer in (
            ("features", nn.Dropout1d(0.3)),
            ("alpha", nn.AlphaDropout(0.3)),
            ("feature-alpha", nn.FeatureAlphaDropout(0.3)),
            ("native", NativeDropout()),
        ):
            with self.subTest(name):
                self.check(name, layer)

    def test_attention(self):
        for name, layer in (
            ("plain", Attention(False, False)),
            ("causal", Attention(True, False)),
            ("masked", Attention(False, True)),
        ):
            with self.subTest(name):
                self.check(name, layer)

    def test_recurrent_layers(self):
        of = {"num_layers": 3, "dropout": 0.3, "batch_first": True}
        for name, layer in (
            ("lstm", nn.LSTM(WIDTH, WIDTH, **of)),
            ("projected", nn.LSTM(WIDTH, 2 * WIDTH, proj_size=WIDTH, **of)),
            ("gru", nn.GRU(WIDTH, WIDTH // 2, bidirectional=True, **of)),
            ("rnn", nn.RNN(WIDTH, WIDTH, **of)),
        ):
            with self.subTest(name):
                self.check(name, Recurrent(layer))

    def test_other_draws_are_warned_of(self):
        torch.manual_seed(1)
        file = self.folder / "slopes.pt"
        torch.jit.script(Draws(RandomSlopes()).eval()).save(file)
        done = mase_result(*self.words(file, "slopes", 2, 36))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("(aten::rrelu) do not belong to rows", done.stderr)

    def quantized(self, name, data_format):
        """A network whose linear layers round their inputs, and the state that it starts with."""
        torch.manual_seed(1)
        model = Draws(nn.ReLU())
        file, config = self.folder / "plain.pt", self.folder / "stochastic.toml"
        torch.jit.script(model.eval()).save(file)
        config.write_text(
            f'[[pass]]\nrun = "quantize"\nby = "type"\n\n[pass.linear.config]\ndata_in = "{data_format}"\n'
        )
        mase(
            "transform",
            file,
            "--input",
            self.folder / "x.npy",
            "--config",
            config,
            "--project-dir",
            self.folder,
            "--project",
            name,
            "-q",
        )
        return self.folder / name, model.state_dict()

    def test_stochastic_rounding(self):
        """Values before a rounding have the same bits in all processes but for sums in another order, of which about
        one in 2^20 would be rounded to the other side."""
        for name, data_format, gradient_format in (
            ("integer", "integer(6, 3, rounding=stochastic)", None),
            ("float", "fp8_e4m3(rounding=stochastic)", None),
            ("blocks", "mxint8(block_size=4, rounding=stochastic)", None),
            ("signs", "binary(stochastic=true)", None),
            ("gradients", "integer(8, 5, rounding=stochastic)", "fp8_e5m2(rounding=stochastic)"),
        ):
            with self.subTest(name):
                model, start = self.quantized(name, data_format)
                more = ["--gradient-format", gradient_format] if gradient_format else []
                one = self.trained(model, f"{name}-1", 1, *more)
                for processes in (2, 3):
                    self.check_close(one, self.trained(model, f"{name}-{processes}", processes, *more), start)
                self.check_close(one, self.trained(model, f"{name}-shards", 1, "--shards", 5, *more), start)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--mase", required=True)
    parser.add_argument("--source", required=True)
    arguments, rest = parser.parse_known_args()
    program_cases.program = arguments.mase
    unittest.main(argv=[sys.argv[0], *rest])
