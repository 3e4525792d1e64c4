"""Writes the small programs of this folder with stock PyTorch: NAME.pt, and NAME.npy with what PyTorch
computes for `example()`; and those of quantizable_programs.py with their input, image.npy. Run it by
hand, inside this folder, when a program is added: so the places stored in the files are relative
names."""

import inspect
from pathlib import Path
from typing import Dict, List, Tuple

import numpy
import torch
import quantizable_programs
from torch import Tensor, nn


def example() -> Tensor:
    return torch.arange(24, dtype=torch.float32).reshape(2, 3, 4) / 8 - 1


class ShapeBranch(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if x.size(1) == 3:
            return x * 2
        return x + 1


class Loops(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        for i in range(3):
            x = x + i
        n = 0
        while n < 2:
            x = x * 2
            n += 1
        return x


class Subscripts(nn.Module):
    def forward(self, x: Tensor) -> List[Tensor]:
        rows = torch.tensor([1, 0])
        return [x[:, 1:3], x[0, 2], x[..., 1], x[:, None], x[rows], x[0][1], x[-1, :, ::2]]


class InPlace(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        y = x + 1
        z = y
        y += x
        y.mul_(2.0)
        return torch.cat([y, z], 0)


class StaleView(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        y = x + 1
        flat = y.view(-1)
        y += 1
        return flat


class Containers(nn.Module):
    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        parts: List[Tensor] = []
        for part in torch.split(x, 1, 0):
            parts.append(part * 2)
        out = {"first": parts[0]}
        out["last"] = parts[-1]
        return out


class Options(nn.Module):
    def forward(self, x: Tensor, scale: float = 2.0, negate: bool = False) -> Tensor:
        x = x * scale
        if negate:
            x = -x
        return x


class TwoOperators(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.drop = nn.Dropout1d()
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x: Tensor) -> Tensor:
        y = self.drop(x[0] * 2)
        return y + self.relu(y)


class Random(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x + torch.rand_like(x)


class Endless(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        n = 1
        while n > 0:
            n = n + 1
        return x


class State(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def forward(self, x: Tensor) -> Tensor:
        self.count += 1
        return x


class OwnTensor(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(1))

    def forward(self, x: Tensor) -> Tensor:
        self.seen.add_(1.0)
        return x + self.seen


class ReadsValue(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * int(x.sum().item())


class Raises(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if x.dim() != 2:
            raise ValueError("two dimensions wanted")
        return x


class Nested(nn.Module):
    def forward(self, x: Tensor) -> Tuple[Tensor, Tuple[Tensor, Tensor]]:
        return x + 1, (x, x * 2)


def results_of(value) -> dict:
    if isinstance(value, Tensor):
        return {"": value}
    if isinstance(value, dict):
        return value
    return {str(i): item for i, item in enumerate(value)}


def store_relative_places() -> None:
    absolute = inspect.getsourcefile
    inspect.getsourcefile = lambda thing: (path := absolute(thing)) and Path(path).name


def main() -> None:
    store_relative_places()
    folder = Path(".")
    numpy.save(folder / "example.npy", example().numpy())
    numpy.save(folder / "image.npy", quantizable_programs.image().numpy())
    refused = (StaleView, Random, Endless, State, OwnTensor, ReadsValue, Raises, Nested)
    runs = (ShapeBranch, Loops, Subscripts, InPlace, Containers, Options, TwoOperators)
    for program in refused + runs:
        scripted = torch.jit.script(program().eval())
        torch.jit.save(scripted, folder / f"{program.__name__}.pt")
        if program in refused:
            continue
        for key, value in results_of(program().eval()(example())).items():
            name = program.__name__ + (f"_{key}" if key else "")
            numpy.save(folder / f"{name}.npy", value.numpy())
    quantizable_programs.write(folder)


if __name__ == "__main__":
    main()
