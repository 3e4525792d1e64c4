# SPDX-License-Identifier: Apache-2.0
"""Small networks of many shapes: those that the clock's delays are fitted to, and twelve, held_*, that the fit never sees."""

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional


@dataclass(frozen=True)
class Design:
    name: str
    build: object  # makes the module
    inputs: tuple  # of `--input-shape`
    width: int  # bits of data and weights
    options: tuple  # of `mase emit`

    def save(self, path):
        torch.manual_seed(1)
        torch.jit.script(self.build().eval()).save(str(path))


def mlp(*sizes, act=nn.ReLU):
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layers += [nn.Linear(a, b), act()]
    return nn.Sequential(*layers[:-1])


def cnn(side, *layers, pool=0, outputs=10):
    """Convolutions of (inputs, outputs, kernel, stride[, groups]), each with its pool, and a linear layer behind them."""
    made = []
    for a, b, kernel, stride, *groups in layers:
        made += [nn.Conv2d(a, b, kernel, stride, kernel // 2, groups=groups[0] if groups else 1), nn.ReLU()]
        side = (side - 1) // stride + 1
        if pool:
            made.append(nn.MaxPool2d(pool))
            side //= pool
    return nn.Sequential(*made, nn.Flatten(), nn.Linear(layers[-1][1] * side * side, outputs))


class Residual(nn.Module):
    def __init__(self, channels, kernel):
        super().__init__()
        self.first = nn.Conv2d(3, channels, kernel, 1, kernel // 2)
        self.a = nn.Conv2d(channels, channels, kernel, 1, kernel // 2)
        self.b = nn.Conv2d(channels, channels, kernel, 1, kernel // 2)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.head = nn.Linear(channels, 10)

    def forward(self, x):
        x = functional.relu(self.first(x))
        x = functional.relu(x + self.b(functional.relu(self.a(x))))
        return self.head(torch.flatten(self.pool(x), 1))


def averaged(channels):
    return nn.Sequential(
        nn.Conv2d(1, channels, 3, 1, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 10)
    )


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.q, self.k, self.v = (nn.Linear(width, width) for _ in range(3))
        self.out = nn.Linear(width, width)

    def split(self, x):
        return x.reshape(x.size(0), x.size(1), self.heads, self.size).transpose(1, 2)

    def forward(self, x):
        q, k, v = self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))
        score = functional.softmax(torch.matmul(q, k.transpose(-2, -1)) * 0.25, dim=-1)
        return self.out(torch.matmul(score, v).transpose(1, 2).reshape(x.size(0), x.size(1), -1))


class Block(nn.Module):
    def __init__(self, width, heads, hidden):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.up, self.down = nn.Linear(width, hidden), nn.Linear(hidden, width)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.down(functional.gelu(self.up(self.norm2(x))))


class Embedded(nn.Module):
    def __init__(self, words, width, length, outputs):
        super().__init__()
        self.words, self.norm = nn.Embedding(words, width), nn.LayerNorm(width)
        self.head = nn.Linear(width * length, outputs)

    def forward(self, x):
        return self.head(torch.flatten(self.norm(self.words(x)), 1))


class Gated(nn.Module):
    def __init__(self, inputs, hidden, outputs):
        super().__init__()
        self.up, self.gate, self.down = nn.Linear(inputs, hidden), nn.Linear(inputs, hidden), nn.Linear(hidden, outputs)

    def forward(self, x):
        return self.down(torch.tanh(self.up(x)) * torch.sigmoid(self.gate(x)))


def row(name, build, shape, width, interval, *options):
    return Design(name, build, (shape,), width, ("--ii", str(interval), *options))


CALIBRATION = [
    row("mlp_small", lambda: mlp(16, 32, 5), "1,16", 8, 16),
    row("mlp_4bit", lambda: mlp(16, 64, 32, 5), "1,16", 4, 32),
    row("mlp_12bit", lambda: mlp(64, 128, 10), "1,64", 12, 512),
    row("mlp_constant", lambda: mlp(12, 16, 5), "1,12", 4, 1),
    row("mlp_fabric", lambda: mlp(32, 48, 10), "1,32", 6, 64, "--multiplier", "fabric"),
    row("mlp_block", lambda: mlp(784, 32, 10), "1,784", 8, 784),
    row("mlp_wide_words", lambda: mlp(256, 128, 10), "1,256", 8, 512),
    row("mlp_deep_words", lambda: mlp(256, 256, 10), "1,256", 8, 16384),
    row("mlp_many_blocks", lambda: mlp(512, 256, 10), "1,512", 8, 4096),
    row("mlp_lookup", lambda: mlp(24, 40, 8, act=nn.Tanh), "1,24", 10, 120),
    row("gated_12bit", lambda: Gated(32, 32, 8), "1,32", 12, 128),
    row("conv_3x3", lambda: cnn(8, (3, 8, 3, 1), (8, 8, 3, 1)), "1,3,8,8", 8, 2048),
    row("conv_7x7", lambda: cnn(12, (1, 8, 7, 1)), "1,1,12,12", 8, 4096),
    row("conv_1x1", lambda: cnn(8, (16, 32, 1, 1), (32, 8, 1, 1)), "1,16,8,8", 6, 2048),
    row("conv_parallel", lambda: cnn(16, (2, 8, 3, 1), pool=2), "1,2,16,16", 4, 512),
    row("conv_pool_12bit", lambda: cnn(16, (1, 8, 5, 1), (8, 16, 5, 1), pool=2), "1,1,16,16", 12, 8192),
    row("conv_deep", lambda: cnn(8, (32, 64, 3, 2), (64, 64, 3, 1)), "1,32,8,8", 8, 36864),
    row("depthwise", lambda: cnn(12, (8, 8, 3, 1, 8), (8, 16, 1, 1)), "1,8,12,12", 8, 2304),
    row("depthwise_5x5", lambda: cnn(8, (16, 16, 5, 1, 16), (16, 8, 1, 1)), "1,16,8,8", 6, 6400),
    row("residual", lambda: Residual(8, 3), "1,3,8,8", 8, 4608),
    row("residual_wide", lambda: Residual(16, 3), "1,3,8,8", 4, 9216),
    row("average_7x7", lambda: averaged(4), "1,1,7,7", 8, 441),
    row("average_6x6", lambda: averaged(6), "1,1,6,6", 5, 972),
    row("attention", lambda: Attention(16, 2), "1,8,16", 8, 512),
    row("attention_wide", lambda: Attention(32, 4), "1,16,32", 8, 4096),
    row("attention_long", lambda: Attention(16, 1), "1,48,16", 6, 6144),
    row("block", lambda: Block(16, 2, 32), "1,4,16", 8, 1024),
    row("embedded", lambda: Embedded(200, 16, 12, 8), "1,12:int64:0..200", 8, 768),
]

HELD_BACK = [
    row("held_mlp", lambda: mlp(40, 100, 100, 10), "1,40", 8, 1000),
    row("held_mlp_large", lambda: mlp(1024, 48, 10), "1,1024", 6, 3072),
    row("held_mlp_10bit", lambda: mlp(10, 20, 20, 2), "1,10", 10, 20),
    row("held_tanh", lambda: mlp(30, 60, 6, act=nn.Sigmoid), "1,30", 12, 300),
    row("held_conv", lambda: cnn(12, (4, 12, 3, 1), (12, 16, 3, 2)), "1,4,12,12", 8, 6912),
    row("held_conv_5x5", lambda: cnn(14, (3, 10, 5, 2), pool=2), "1,3,14,14", 5, 1470),
    row("held_lenet", lambda: cnn(20, (1, 6, 5, 1), (6, 12, 5, 1), pool=2), "1,1,20,20", 4, 7200),
    row("held_depthwise", lambda: cnn(10, (12, 12, 3, 1, 12), (12, 24, 1, 1)), "1,12,10,10", 8, 3600),
    row("held_residual", lambda: Residual(12, 3), "1,3,10,10", 6, 14400),
    row("held_attention", lambda: Attention(24, 3), "1,12,24", 8, 1728),
    row("held_block", lambda: Block(24, 2, 48), "1,6,24", 6, 3456),
    row("held_embedded", lambda: Embedded(500, 24, 10, 6), "1,10:int64:0..500", 8, 1440),
]
DESIGNS = {design.name: design for design in CALIBRATION + HELD_BACK}
