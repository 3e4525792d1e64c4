"""Programs that hold every quantizable op: as torch.nn layers, as functions, as methods and operators.
All take one image batch and return a dict. make_programs.py writes them, scripted and traced."""

import gc
import re
import threading
from types import FunctionType
from typing import Dict

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def image() -> Tensor:
    return torch.randn(2, 4, 6, 6, generator=torch.Generator().manual_seed(5))


class Layers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(6, 5)
        self.conv1d = nn.Conv1d(4, 3, 3, padding=1)
        self.conv2d = nn.Conv2d(4, 6, 3, stride=2, padding=1, groups=2)
        self.convtranspose2d = nn.ConvTranspose2d(4, 3, 3, stride=2, padding=1, output_padding=1)
        self.batch_norm1d = nn.BatchNorm1d(4)
        self.batch_norm2d = nn.BatchNorm2d(4)
        self.layer_norm = nn.LayerNorm([6, 6])
        self.group_norm = nn.GroupNorm(2, 4)
        self.instance_norm2d = nn.InstanceNorm2d(4, affine=True, track_running_stats=True)
        self.rms_norm = nn.RMSNorm(6)
        self.relu = nn.ReLU()
        self.relu_inplace = nn.ReLU(inplace=True)
        self.selu = nn.SELU()
        self.softplus = nn.Softplus(beta=2.0, threshold=3.0)
        self.softsign = nn.Softsign()
        self.tanh = nn.Tanh()
        self.gelu = nn.GELU()
        self.gelu_tanh = nn.GELU(approximate="tanh")

    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        rows = x[:, :, 0]
        return {
            "linear": self.linear(x),
            "conv1d": self.conv1d(rows),
            "conv2d": self.conv2d(x),
            "convtranspose2d": self.convtranspose2d(x),
            "batch_norm1d": self.batch_norm1d(rows),
            "batch_norm2d": self.batch_norm2d(x),
            "layer_norm": self.layer_norm(x),
            "group_norm": self.group_norm(x),
            "instance_norm2d": self.instance_norm2d(x),
            "rms_norm": self.rms_norm(x),
            "relu": self.relu(x),
            "relu_inplace": self.relu_inplace(x * 2),
            "selu": self.selu(x),
            "softplus": self.softplus(x),
            "softsign": self.softsign(x),
            "tanh": self.tanh(x),
            "gelu": self.gelu(x),
            "gelu_tanh": self.gelu_tanh(x),
        }


class PlainLayers(nn.Module):
    """The same without the tensors that may be left out, and with rarer settings."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(6, 5, bias=False)
        self.conv1d = nn.Conv1d(4, 4, 3, bias=False, dilation=2, groups=4)
        self.conv2d = nn.Conv2d(4, 3, 3, padding="same", bias=False)
        self.convtranspose2d = nn.ConvTranspose2d(4, 4, (2, 3), dilation=2, groups=2, bias=False)
        self.batch_norm1d = nn.BatchNorm1d(4, affine=False)
        self.batch_norm2d = nn.BatchNorm2d(4, momentum=None)
        self.batch_norm_stateless = nn.BatchNorm2d(4, track_running_stats=False)
        self.layer_norm = nn.LayerNorm(6, elementwise_affine=False)
        self.layer_norm_no_bias = nn.LayerNorm(6, bias=False)
        self.group_norm = nn.GroupNorm(4, 4, affine=False)
        self.instance_norm2d = nn.InstanceNorm2d(4)
        self.rms_norm = nn.RMSNorm([6, 6], eps=0.01, elementwise_affine=False)

    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        rows = x[:, :, 0]
        return {
            "linear": self.linear(x),
            "conv1d": self.conv1d(rows),
            "conv2d": self.conv2d(x),
            "convtranspose2d": self.convtranspose2d(x),
            "batch_norm1d": self.batch_norm1d(rows),
            "batch_norm2d": self.batch_norm2d(x),
            "batch_norm_stateless": self.batch_norm_stateless(x),
            "layer_norm": self.layer_norm(x),
            "layer_norm_no_bias": self.layer_norm_no_bias(x),
            "group_norm": self.group_norm(x),
            "instance_norm2d": self.instance_norm2d(x),
            "rms_norm": self.rms_norm(x),
        }


class Functions(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(5, 6))
        self.bias = nn.Parameter(torch.randn(5))
        self.kernel1 = nn.Parameter(torch.randn(4, 4, 3))
        self.kernel2 = nn.Parameter(torch.randn(4, 4, 3, 3))
        self.scale = nn.Parameter(torch.rand(4) + 0.5)
        self.shift = nn.Parameter(torch.randn(4))
        self.row_scale = nn.Parameter(torch.rand(6) + 0.5)
        self.row_shift = nn.Parameter(torch.randn(6))
        self.register_buffer("mean", torch.randn(4))
        self.register_buffer("variance", torch.rand(4) + 0.5)

    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        rows = x[:, :, 0]
        keys = x[:, :2]
        return {
            "linear": F.linear(x, self.weight, self.bias),
            "conv1d": F.conv1d(rows, self.kernel1, self.shift, padding=1),
            "conv2d": F.conv2d(x, self.kernel2, self.shift, padding="same"),
            "torch_conv2d": torch.conv2d(x, self.kernel2, stride=2),
            "convtranspose2d": F.conv_transpose2d(x, self.kernel2, self.shift, stride=2),
            "batch_norm": F.batch_norm(x, self.mean, self.variance, self.scale, self.shift),
            "layer_norm": F.layer_norm(x, [6], self.row_scale, self.row_shift),
            "group_norm": F.group_norm(x, 2, self.scale, self.shift),
            "instance_norm": F.instance_norm(
                x, self.mean, self.variance, self.scale, self.shift, use_input_stats=False
            ),
            "instance_norm_own": F.instance_norm(x),
            "rms_norm": F.rms_norm(x, [6], self.row_scale),
            "relu": F.relu(x),
            "torch_relu": torch.relu(x),
            "selu": F.selu(x),
            "torch_selu": torch.selu(x),
            "softplus": F.softplus(x, 2.0, 3.0),
            "softsign": F.softsign(x),
            "tanh": F.tanh(x),
            "torch_tanh": torch.tanh(x),
            "gelu": F.gelu(x),
            "gelu_tanh": F.gelu(x, approximate="tanh"),
            "attention": F.scaled_dot_product_attention(x, x, x),
            "attention_mask": F.scaled_dot_product_attention(x, x, x, attn_mask=x[0, 0]),
            "attention_causal": F.scaled_dot_product_attention(x, x, x, is_causal=True),
            "attention_groups": F.scaled_dot_product_attention(
                x, keys, keys * 2, scale=0.5, enable_gqa=True
            ),
            "add": torch.add(x, x, alpha=2),
            "sub": torch.sub(x, x[0]),
            "mul": torch.mul(x, x[:, :1]),
            "matmul": torch.matmul(x, x.transpose(2, 3)),
            "bmm": torch.bmm(rows, rows.transpose(1, 2)),
        }


class PointwiseLayers(nn.Module):
    """Activations and pooling: what hardware makes of tables, clamps and windows."""

    def __init__(self) -> None:
        super().__init__()
        self.relu6 = nn.ReLU6()
        self.hardtanh = nn.Hardtanh(-0.5, 2.0)
        self.hardswish = nn.Hardswish()
        self.hardsigmoid = nn.Hardsigmoid()
        self.leaky_relu = nn.LeakyReLU(0.25)
        self.silu = nn.SiLU()
        self.elu = nn.ELU(alpha=0.5)
        self.sigmoid = nn.Sigmoid()
        self.avg_pool1d = nn.AvgPool1d(2)
        self.avg_pool2d = nn.AvgPool2d(3, stride=2, padding=1)
        self.max_pool1d = nn.MaxPool1d(2)
        self.max_pool2d = nn.MaxPool2d(3, stride=1, padding=1)
        self.adaptive_avg_pool1d = nn.AdaptiveAvgPool1d(3)
        self.adaptive_avg_pool2d = nn.AdaptiveAvgPool2d((2, 3))

    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        rows = x[:, :, 0]
        return {
            "relu6": self.relu6(x * 4),
            "hardtanh": self.hardtanh(x),
            "hardswish": self.hardswish(x),
            "hardsigmoid": self.hardsigmoid(x),
            "leaky_relu": self.leaky_relu(x),
            "silu": self.silu(x),
            "elu": self.elu(x),
            "sigmoid": self.sigmoid(x),
            "avg_pool1d": self.avg_pool1d(rows),
            "avg_pool2d": self.avg_pool2d(x),
            "max_pool1d": self.max_pool1d(rows),
            "max_pool2d": self.max_pool2d(x),
            "adaptive_avg_pool1d": self.adaptive_avg_pool1d(rows),
            "adaptive_avg_pool2d": self.adaptive_avg_pool2d(x),
        }


class PointwiseFunctions(nn.Module):
    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        rows = x[:, :, 0]
        return {
            "relu6": F.relu6(x * 4),
            "hardtanh": F.hardtanh(x, -0.5, 2.0),
            "hardswish": F.hardswish(x),
            "hardsigmoid": F.hardsigmoid(x),
            "leaky_relu": F.leaky_relu(x, 0.25),
            "silu": F.silu(x),
            "elu": F.elu(x, 0.5),
            "sigmoid": torch.sigmoid(x),
            "avg_pool1d": F.avg_pool1d(rows, 2),
            "avg_pool2d": F.avg_pool2d(x, 3, stride=2, padding=1),
            "max_pool1d": F.max_pool1d(rows, 2),
            "max_pool2d": F.max_pool2d(x, 3, stride=1, padding=1),
            "adaptive_avg_pool1d": F.adaptive_avg_pool1d(rows, 3),
            "adaptive_avg_pool2d": F.adaptive_avg_pool2d(x, (2, 3)),
            "div": x / x[0].add(4),
            "div_number": x / 4,
        }


class MoreLayers(nn.Module):
    """Softmax, embedding and rarer activations."""

    def __init__(self) -> None:
        super().__init__()
        self.convtranspose1d = nn.ConvTranspose1d(4, 3, 3, stride=2, padding=1)
        self.softmax = nn.Softmax(dim=-1)
        self.log_softmax = nn.LogSoftmax(dim=1)
        self.embedding = nn.Embedding(3, 5)
        self.prelu = nn.PReLU(4)
        self.mish = nn.Mish()
        self.celu = nn.CELU(alpha=0.5)
        self.hardshrink = nn.Hardshrink(0.25)
        self.softshrink = nn.Softshrink(0.25)
        self.logsigmoid = nn.LogSigmoid()
        self.upsample = nn.Upsample(scale_factor=2.0)

    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        rows = x[:, :, 0]
        return {
            "convtranspose1d": self.convtranspose1d(rows),
            "softmax": self.softmax(x),
            "log_softmax": self.log_softmax(x),
            "embedding": self.embedding((rows > 0).long()),
            "prelu": self.prelu(x),
            "mish": self.mish(x),
            "celu": self.celu(x),
            "hardshrink": self.hardshrink(x),
            "softshrink": self.softshrink(x),
            "logsigmoid": self.logsigmoid(x),
            "upsample": self.upsample(x),
        }


class MoreFunctions(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.kernel = nn.Parameter(torch.randn(4, 3, 3))
        self.table = nn.Parameter(torch.randn(3, 5))
        self.slope = nn.Parameter(torch.rand(4))
        self.shift = nn.Parameter(torch.randn(3))

    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        rows = x[:, :, 0]
        first, second = rows[0], rows[1].t()
        positive = x.abs() + 0.5
        return {
            "convtranspose1d": F.conv_transpose1d(rows, self.kernel, self.shift, stride=2),
            "softmax": F.softmax(x, dim=-1),
            "torch_softmax": torch.softmax(x, 1),
            "log_softmax": F.log_softmax(x, dim=1),
            "embedding": F.embedding((rows > 0).long(), self.table),
            "prelu": F.prelu(x, self.slope),
            "mish": F.mish(x),
            "celu": F.celu(x, 0.5),
            "hardshrink": F.hardshrink(x, 0.25),
            "softshrink": F.softshrink(x, 0.25),
            "logsigmoid": F.logsigmoid(x),
            "upsample": F.interpolate(x, scale_factor=2.0, mode="nearest"),
            "mm": torch.mm(first, second),
            "addmm": torch.addmm(x[0, 0, :4, :4], first, second),
            "baddbmm": torch.baddbmm(x[:, 0, :4, :4], rows, rows.transpose(1, 2)),
            "pow": positive**1.5,
            "mean": x.mean([2, 3]),
            "sum": x.sum(1),
            "abs": torch.abs(x),
            "neg": -x,
            "sqrt": torch.sqrt(positive),
            "rsqrt": torch.rsqrt(positive),
            "reciprocal": torch.reciprocal(positive),
            "square": torch.square(x),
            "exp": torch.exp(x),
            "log": torch.log(positive),
            "erf": torch.erf(x),
            "sin": torch.sin(x),
            "cos": torch.cos(x),
            "tan": torch.tan(x),
            "sinh": torch.sinh(x),
            "cosh": torch.cosh(x),
            "maximum": torch.maximum(x, positive),
            "minimum": torch.minimum(x, positive),
        }


class Methods(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(6, 3))

    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        rows = x[:, :, 0]
        changed = x * 3
        changed += x
        changed -= 1
        changed *= x
        return {
            "add": x.add(x[0]),
            "add_operator": x + x[1],
            "add_number": x + 0.3,
            "sub": x.sub(x[0]),
            "sub_operator": x - x[1],
            "sub_from_number": 0.3 - x,
            "mul": x.mul(x[0]),
            "mul_operator": x * x[1],
            "mul_number": 0.3 * x,
            "in_place": changed,
            "matmul": x.matmul(self.weight),
            "matmul_operator": x @ x.transpose(2, 3),
            "bmm": rows.bmm(rows.transpose(1, 2)),
            "relu": x.relu(),
            "tanh": x.tanh(),
        }


PROGRAMS = (
    Layers,
    PlainLayers,
    Functions,
    PointwiseLayers,
    PointwiseFunctions,
    MoreLayers,
    MoreFunctions,
    Methods,
)


def filled(program: nn.Module) -> nn.Module:
    """With other values than the initial zeros and ones, which would hide a wrong use."""
    generator = torch.Generator().manual_seed(11)
    for tensor in list(program.parameters()) + list(program.buffers()):
        if tensor.is_floating_point():
            tensor.data.uniform_(0.25, 1.5, generator=generator)
    return program.eval()


def name_relative_files() -> None:
    """Traces store the Python stack: functions called from here on name files below their package."""
    for function in gc.get_objects():
        if type(function) is FunctionType:
            file = re.sub(r"^/.*?/(?=torch/|[^/]*$)", "", function.__code__.co_filename)
            function.__code__ = function.__code__.replace(co_filename=file)


def write_traces(modules: Dict[str, nn.Module], folder) -> None:
    for name, module in modules.items():
        traced = torch.jit.trace(module, image(), strict=False)
        torch.jit.save(traced, folder / f"Quantizable{name}.trace.pt")


def write(folder) -> None:
    modules = {p.__name__: filled(p()) for p in PROGRAMS}
    for name, module in modules.items():
        torch.jit.save(torch.jit.script(module), folder / f"Quantizable{name}.script.pt")
    name_relative_files()
    # A new thread's stack holds none of the functions that run already.
    thread = threading.Thread(target=write_traces, args=(modules, folder))
    thread.start()
    thread.join()
