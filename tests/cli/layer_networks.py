# SPDX-License-Identifier: Apache-2.0
"""Small networks of layers of torch.nn that ONNX has other operators for, or none."""

import torch
from torch import nn


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
