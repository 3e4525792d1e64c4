# SPDX-License-Identifier: Apache-2.0
"""Number formats as chains of PyTorch operators, as a Python user would write them: the references for the
benchmarks. Formats are named by their text in mase; profile, rounding and special values as far as such
chains have them."""

import re

import torch

MINIFLOATS = {  # exponent bits, fraction bits, bias, largest value
    "e4m3": (4, 3, 7, 448.0),
    "e5m2": (5, 2, 15, 57344.0),
    "e3m2": (3, 2, 3, 28.0),
    "e2m3": (2, 3, 1, 7.5),
    "e2m1": (2, 1, 1, 6.0),
}


def integer(width, frac_width):
    scale, low, high = 2.0**frac_width, -(2 ** (width - 1)), 2 ** (width - 1) - 1
    return lambda x: torch.clamp(torch.round(x * scale), low, high) / scale


def minifloat(exponent_width, mantissa, bias, largest):
    low = 1 - bias

    def quantize(x):
        exponent = torch.floor(torch.log2(x.abs())).clamp(min=low)
        step = torch.exp2(exponent - mantissa)
        return torch.clamp(torch.round(x / step) * step, -largest, largest)

    return quantize


def log(width):
    bias = 2 ** (width - 2) - 1
    low, high = 1 - bias, 2 ** (width - 1) - 1 - bias

    def quantize(x):
        magnitude = x.abs()
        exponent = torch.round(torch.log2(magnitude)).clamp(low, high)
        return torch.where(magnitude > 2.0 ** (low - 1), torch.sign(x) * torch.exp2(exponent), torch.zeros_like(x))

    return quantize


def binary():
    return lambda x: torch.where(x >= 0, torch.ones_like(x), -torch.ones_like(x))


def ternary(threshold):
    return lambda x: (x > threshold).to(x.dtype) - (x < -threshold).to(x.dtype)


def scaled_ternary(x):
    rows = x.reshape(x.shape[0], -1)
    magnitude = rows.abs()
    kept = magnitude > 0.75 * magnitude.mean(1, keepdim=True)
    scale = (magnitude * kept).sum(1, keepdim=True) / kept.sum(1, keepdim=True).clamp(min=1)
    return (torch.sign(rows) * kept * scale).reshape(x.shape)


def scaled_binary(x):
    rows = x.reshape(x.shape[0], -1)
    scale = rows.abs().mean(1, keepdim=True)
    return torch.where(rows >= 0, scale, -scale).reshape(x.shape)


def scale_integer(width):
    high = 2 ** (width - 1) - 1

    def quantize(x):
        step = x.abs().amax(-1, keepdim=True) / high
        return torch.clamp(torch.round(x / step), -high, high) * step

    return quantize


def blocks(size, element):
    """`element(y, exponent)` quantizes blocks [.., size] whose largest magnitude has this exponent."""

    def quantize(x):
        block = x.reshape(-1, size)
        largest = block.abs().amax(1, keepdim=True)
        exponent = torch.floor(torch.log2(largest)).clamp(-127, 127)
        return element(block, exponent).reshape(x.shape)

    return quantize


def mxint(width, size=32):
    high = 2 ** (width - 1) - 1

    def element(block, exponent):
        step = torch.exp2(exponent - (width - 2))
        return torch.clamp(torch.round(block / step), -high, high) * step

    return blocks(size, element)


def mxfp(element, size=32):
    spec = MINIFLOATS[element]
    cast = minifloat(*spec)
    top = {"e4m3": 8, "e5m2": 15, "e3m2": 4, "e2m3": 2, "e2m1": 2}[element]

    def quantize(block, exponent):
        scale = torch.exp2(exponent - top)
        return cast(block / scale) * scale

    return blocks(size, quantize)


def block_minifloat(width, exponent_width, size=16):
    mantissa = width - exponent_width - 1

    def element(block, exponent):
        lowest = exponent - (2**exponent_width - 2)
        own = torch.maximum(torch.floor(torch.log2(block.abs())), lowest)
        step = torch.exp2(own - mantissa)
        largest = torch.exp2(exponent) * (2 - 2.0**-mantissa)
        return torch.minimum(torch.maximum(torch.round(block / step) * step, -largest), largest)

    return blocks(size, element)


def block_log(width, size=16):
    def element(block, exponent):
        own = torch.round(torch.log2(block.abs()))
        kept = torch.minimum(own, exponent + 1)
        lowest = exponent + 1 - (2 ** (width - 1) - 2)
        return torch.where(own >= lowest, torch.sign(block) * torch.exp2(kept), torch.zeros_like(block))

    return blocks(size, element)


def nvfp4(x):
    cast = minifloat(*MINIFLOATS["e2m1"])
    scale_cast = minifloat(*MINIFLOATS["e4m3"])
    tensor_scale = x.abs().amax() / 2688
    block = x.reshape(-1, 16)
    scale = scale_cast((block.abs().amax(1, keepdim=True) / 6 / tensor_scale).clamp(2.0**-6, 448))
    whole = scale * tensor_scale
    return (cast(torch.clamp(block / whole, -6, 6)) * whole).reshape(x.shape)


CHAINS = {
    r"(?:integer|fixed|integer_floor)\((\d+), (-?\d+)\)": lambda w, f: integer(int(w), int(f)),
    r"fp[864]_(e\dm\d)": lambda e: minifloat(*MINIFLOATS[e]),
    r"minifloat_(?:ieee|denorm)\((\d+), (\d+)\)": lambda w, e: minifloat(
        int(e),
        int(w) - int(e) - 1,
        2 ** (int(e) - 1) - 1,
        2.0 ** (2 ** (int(e) - 1)) * (2 - 2.0 ** -(int(w) - int(e) - 1)),
    ),
    r"log\((\d+)\)": lambda w: log(int(w)),
    r"binary": binary,
    r"binary\(scaled=true\)": lambda: scaled_binary,
    r"ternary\(threshold=(.*)\)": lambda t: ternary(float(t)),
    r"ternary\(scaling_factor=true\)": lambda: scaled_ternary,
    r"scale_integer\((\d+)\)": lambda w: scale_integer(int(w)),
    r"mxint(\d)": lambda w: mxint(int(w)),
    r"block_fp\((\d+), 8\)": lambda w: mxint(int(w), 16),
    r"mxfp8_(e4m3|e5m2)": lambda e: mxfp(e),
    r"mxfp6_(e3m2|e2m3)": lambda e: mxfp(e),
    r"mxfp4": lambda: mxfp("e2m1"),
    r"block_minifloat\((\d+), (\d+), 8, skip_first_dim=true\)": lambda w, e: block_minifloat(int(w), int(e)),
    r"block_log\((\d+), 8, skip_first_dim=true\)": lambda w: block_log(int(w)),
    r"nvfp4": lambda: nvfp4,
}


def chain(text):
    """The chain of a format's text, or None where there is none here."""
    for pattern, make in CHAINS.items():
        match = re.fullmatch(pattern, text)
        if match:
            return make(*match.groups())
    return None
