#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processes and shards train networks with batch norms as stock PyTorch trains them in one process with the whole batch.

usage: shared_norms_test.py --mase BINARY --source ROOT; exits with 77 where torch is missing
"""

import argparse
import struct
import sys
import unittest
import zlib

try:
    import numpy as np
    import program_cases
    import torch
    from program_cases import Cases, mase
    from torch import nn
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

torch.set_num_threads(1)
ROWS, STEPS, RATE = 42, 6, 0.05


class Residual(nn.Module):
    """A small residual network. With momentum None, norms average over all batches, and mase uses autograd."""

    def __init__(self, momentum):
        super().__init__()
        self.first, self.first_norm = nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8, momentum=momentum)
        self.second, self.second_norm = nn.Conv2d(8, 8, 3, padding=1), nn.BatchNorm2d(8, momentum=momentum)
        self.last, self.last_norm = nn.Linear(8, 16), nn.BatchNorm1d(16, momentum=momentum)
        self.classes = nn.Linear(16, 3)

    def forward(self, x):
        x = torch.relu(self.first_norm(self.first(x)))
        x = torch.relu(x + self.second_norm(self.second(x)))
        x = self.last_norm(self.last(x.mean([2, 3])))
        return self.classes(torch.relu(x))


def write_png(path, pixels):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width = pixels.shape
    lines = b"".join(b"\0" + line.tobytes() for line in pixels)
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")
    )


class SharedNorms(Cases):
    def setUp(self):
        super().setUp()
        random = np.random.default_rng(3)
        self.labels = random.integers(0, 3, ROWS)
        # Classes and rows differ in brightness, so that halves of a batch have other means.
        self.pixels = (
            random.integers(0, 100, (ROWS, 8, 8)) + (40 * self.labels + 70 * (np.arange(ROWS) % 2))[:, None, None]
        )
        self.pixels = self.pixels.astype(np.uint8)
        lines = ["file,label,part"]
        for i in range(ROWS):
            write_png(self.folder / f"{i}.png", self.pixels[i])
            lines.append(f"{i}.png,{self.labels[i]},train")
            if i < 3:
                write_png(self.folder / f"again{i}.png", self.pixels[i])
                lines.append(f"again{i}.png,{self.labels[i]},{'validation' if i else 'test'}")
        (self.folder / "rows.csv").write_text("\n".join(lines) + "\n")

    def trained_by_torch(self, model):
        """A step takes all rows, so that their order makes no difference."""
        x = torch.from_numpy(self.pixels.astype(np.float32) / 255).unsqueeze(1)
        y = torch.from_numpy(self.labels)
        optimizer = torch.optim.SGD(model.parameters(), lr=RATE, momentum=0.9, nesterov=True)
        model.train()
        for _ in range(STEPS):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        return model.state_dict()

    def trained_by_mase(self, project, processes, *more, steps=STEPS):
        mase(
            *["train", self.folder / "model.pt", "images", "--data-dir", self.folder / "rows.csv"],
            *["--nproc", processes, "--batch-size", ROWS // processes, "--max-steps", steps, "--learning-rate", RATE],
            *["--training-optimizer", "sgd", "--project-dir", self.folder, "--project", project, "-q", *more],
        )
        return torch.jit.load(self.folder / project / "software/training_ckpts/last.pt").state_dict()

    def check(self, momentum):
        """With seed 1, PyTorch's own weights differ by 4e-4 if its rows come in another order, since an argument of a
        ReLU is nearly 0 then. With seed 2, no order of a hundred makes more than 2e-6."""
        torch.manual_seed(2)
        model = Residual(momentum)
        torch.jit.script(model.eval()).save(self.folder / "model.pt")
        two = self.trained_by_mase("two", 2)
        six = self.trained_by_mase("six", 6)
        self.check_bits(two, self.trained_by_mase("shards", 1, "--shards", 2))
        self.check_bits(six, self.trained_by_mase("shards-of-two", 2, "--shards", 6))
        theirs = self.trained_by_torch(model)
        for mine in (self.trained_by_mase("one", 1), two, six):
            self.assertEqual(sorted(mine), sorted(theirs))
            for name, values in theirs.items():
                self.assertLess((mine[name] - values).abs().max().item(), 1e-5, name)

    def check_bits(self, one, other):
        for name, values in one.items():
            self.assertTrue(torch.equal(values, other[name]), name)

    def test_layers(self):
        self.check(0.1)

    def test_autograd(self):
        self.check(None)

    def test_dropout_between_norms(self):
        """In turns, shards draw what processes draw, and a run that was stopped goes on with the same bits."""
        torch.manual_seed(1)
        model = nn.Sequential(
            nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.Dropout(0.3), nn.Conv2d(4, 4, 3), nn.BatchNorm2d(4),
            nn.Dropout(0.3), nn.Flatten(), nn.Linear(64, 3),
        )  # fmt: skip
        torch.jit.script(model.eval()).save(self.folder / "model.pt")
        words = ["--accumulate-grad-batches", 2, "--ema-decay", 0.9]
        three = self.trained_by_mase("three", 3, *words)
        self.check_bits(three, self.trained_by_mase("shards", 1, "--shards", 3, *words))
        self.trained_by_mase("parts", 1, "--shards", 3, *words, steps=STEPS // 2)
        self.check_bits(three, self.trained_by_mase("parts", 1, "--shards", 3, *words, "--resume"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--mase", required=True)
    parser.add_argument("--source", required=True)
    arguments, rest = parser.parse_known_args()
    program_cases.program = arguments.mase
    unittest.main(argv=[sys.argv[0], *rest])
