# SPDX-License-Identifier: Apache-2.0
"""Small networks of layers of torch.nn that ONNX has other operators for, or none."""

import torch
from torch import nn
from torch.nn.utils import rnn


class Layer(nn.Module):
    """A layer without a state, and a linear layer on its last step."""

    def __init__(self, layer, **options):
        super().__init__()
        self.layer = layer(8, 6, **options)
        self.head = nn.Linear(12 if self.layer.bidirectional else 6, 3)

    def forward(self, x):
        return self.head(self.layer(x)[0][:, -1])


class States(nn.Module):
    """Layers whose first and last states are inputs and outputs."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(8, 6, num_layers=2)
        self.gru = nn.GRU(6, 4, bidirectional=True, bias=False)

    def forward(self, x, h, c):
        y, (h, c) = self.lstm(x, (h, c))
        z, state = self.gru(y)
        return z, h, c, state


class Cells(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTMCell(8, 6)
        self.gru = nn.GRUCell(6, 5)
        self.rnn = nn.RNNCell(5, 4)

    def forward(self, x, h, c):
        h, c = self.lstm(x, (h, c))
        return self.rnn(self.gru(h)), c


class Unbatched(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(8, 6)

    def forward(self, x):
        return self.lstm(x)[0]


def encoder():
    """Scripted, so that the fused operator of attention stays; its input is [2, 5, 8]."""
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    return torch.jit.script(nn.TransformerEncoder(layer, 2).eval())


def recurrent():
    """Networks by name, with the shapes of their inputs."""
    rows = [(2, 5, 8)]
    return {
        "lstm": (Layer(nn.LSTM, batch_first=True), rows),
        "deep_lstm": (Layer(nn.LSTM, batch_first=True, num_layers=2, bidirectional=True), rows),
        "deep_gru": (Layer(nn.GRU, batch_first=True, num_layers=2), rows),
        "rnn": (Layer(nn.RNN, nonlinearity="relu", bias=False), rows),
        "states": (States(), [(5, 2, 8), (2, 2, 6), (2, 2, 6)]),
        "cells": (Cells(), [(2, 8), (2, 6), (2, 6)]),
        "unbatched": (Unbatched(), [(5, 8)]),
    }


class Packed(nn.Module):
    """Sequences of different lengths, whose longest is shorter than the input has steps."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(8, 6, batch_first=True, bidirectional=True, num_layers=2)

    def forward(self, x, lengths):
        packed = rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        steps, (h, c) = self.lstm(packed)
        return *rnn.pad_packed_sequence(steps, batch_first=True, total_length=9), h, c


class Choices(nn.Module):
    """Indexing and writing by tensors, x is [2, 4, 6, 6]."""

    def forward(self, x):
        rows, columns = torch.tensor([[0, 2], [5, -1]]), torch.tensor([1, 3])
        scatter = x.scatter_reduce(2, torch.ones(2, 4, 1, 6, dtype=torch.int64), x[:, :, :1] * 2, "amax")
        return (
            x[:, :, rows, columns],
            x[:, columns, :, columns],
            x[0, :, rows, None, columns],
            x.index_put((torch.tensor([1, 0]), columns), x[:, 0]),
            x.index_put((torch.tensor([1, 1]), columns[:1]), torch.ones(1), accumulate=True),
            x.slice_scatter(x[:, :, 1:3] * 2, 2, 0, 4, 2),
            x.scatter_add(1, torch.zeros(2, 1, 6, 6, dtype=torch.int64), x[:, 1:2]),
            scatter,
            torch.diff(x, prepend=x[..., :2], append=x[..., -1:]),
            torch.sort(x, dim=2)[0],
            torch.topk(x, 3, dim=1)[0],
            torch.topk(x, 2, largest=False)[1],
        )


class Images(nn.Module):
    """Pools of windows that differ, other sizes, volumes; x is [2, 4, 6, 6]."""

    def __init__(self):
        super().__init__()
        self.volume = nn.Conv3d(2, 3, 2)
        self.up = nn.ConvTranspose3d(3, 2, 2, stride=2)

    def forward(self, x):
        f = nn.functional
        volume = self.volume(x.reshape(2, 2, 2, 6, 6))
        grid = f.affine_grid(torch.tensor([[[1.0, 0.2, 0], [0, 0.8, 0.1]]] * 2), [2, 4, 5, 5], align_corners=False)
        return (
            f.adaptive_avg_pool2d(x, (4, 5)),
            f.adaptive_avg_pool1d(x[:, :, 0], 4),
            f.max_pool3d(volume, (1, 2, 2)),
            f.avg_pool3d(volume, (1, 2, 2)),
            self.up(volume),
            f.interpolate(x[:, :, 0], size=9, mode="linear"),
            f.interpolate(x, scale_factor=2.0, mode="bicubic"),
            f.interpolate(volume, size=(2, 7, 7), mode="trilinear"),
            f.pixel_shuffle(x, 2),
            f.pixel_unshuffle(x, 2),
            f.grid_sample(x, grid, padding_mode="border", align_corners=False),
            f.pad(x, (1, 2, 0, 1), mode="reflect"),
        )


class Numbers(nn.Module):
    """Functions of each element and of rows; x is [2, 4, 6, 6]."""

    def forward(self, x):
        small, labels = torch.tanh(x) * 0.9, torch.tensor([[0, 3, 1, -100, 2, 2]] * 2)
        return (
            torch.asin(small) + torch.acos(small) + torch.atan(x) + torch.asinh(x) + torch.atanh(small),
            torch.acosh(x.abs() + 1),
            torch.isnan(x / (x > 0)),
            torch.isinf(x / (x > 0)) | torch.isposinf(x / 0) ^ torch.isneginf(x / 0),
            nn.functional.threshold(x, 0.3, -1.5),
            torch.remainder(x, -0.7) + torch.remainder(-x, torch.tensor(float("inf"))).clamp(max=5),
            torch.fmod(x, 0.7),
            torch.addcmul(x, x, x, value=0.5) + torch.addcdiv(x, x, x.abs() + 1),
            torch.lerp(x, x * 2, 0.25),
            torch.logsumexp(x, dim=(1, 2)),
            torch.linalg.vector_norm(x, dim=1) + torch.linalg.vector_norm(x, 3, dim=1),
            torch.norm(x, dim=-1, keepdim=True),
            torch.linalg.det(x[:, 0, :3, :3]),
            x[:, :1].expand_as(x),
            torch.logical_xor(x > 0, x > 0.5),
            nn.functional.cross_entropy(x[:, :, 0], labels),
            nn.functional.nll_loss(nn.functional.log_softmax(x[:, :, 0], 1), labels, reduction="sum"),
        )


def operators():
    return {"choices": Choices(), "images": Images(), "numbers": Numbers()}
