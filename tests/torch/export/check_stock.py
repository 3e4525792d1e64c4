# SPDX-License-Identifier: Apache-2.0
"""Opens checkpoints with stock PyTorch and checks that three calls give the stored bits.

Usage: check_stock.py FOLDER. Every subfolder is a case: checkpoint.pt, input_0.npy, ... and
output.npy (a tensor), output_0.npy, ... (a tuple) or output_KEY.npy (a dict), and, unless codes stand
in the place of weights, keys.txt, the names of the state_dict in order.
"""

import pathlib
import sys

import numpy
import torch


def named(result):
    """The results by the part of their file name after 'output'."""
    if isinstance(result, torch.Tensor):
        return {"": result}
    if isinstance(result, dict):
        return {"_" + key: value for key, value in result.items()}
    return {"_" + str(i): value for i, value in enumerate(result)}


def same_bits(tensor, path):
    wanted = numpy.load(path)
    found = tensor.detach().contiguous().numpy()
    return found.dtype == wanted.dtype and found.shape == wanted.shape and found.tobytes() == wanted.tobytes()


# Inference, as `mase run` is: with gradients LSTMs of some processors take other kernels and give other last bits.
@torch.no_grad()
def check_outputs(module, folder):
    count = len(list(folder.glob("input_*.npy")))
    inputs = [torch.from_numpy(numpy.load(folder / f"input_{i}.npy")) for i in range(count)]
    problems = []
    for call in range(3):
        results = named(module(*inputs))
        if len(results) != len(list(folder.glob("output*.npy"))):
            problems.append(f"call {call + 1}: number of results")
            continue
        problems += [
            f"call {call + 1}: output{name} differs"
            for name, value in results.items()
            if not same_bits(value, folder / f"output{name}.npy")
        ]
    return problems


def check_names(module, keys):
    names = list(module.state_dict())
    if not keys.exists():
        return [] if any(name.endswith("_codes") for name in names) else ["no weight is stored as codes"]
    return [] if names == keys.read_text().split() else ["the state_dict has other names or another order"]


def check_training(module):
    """Switching to training mode reaches every module."""
    module.train()
    if not module.training or not all(child.training for child in module.modules()):
        return ["train() does not reach every module"]
    module.eval()
    return []


def check_case(folder):
    extras = {"mase/info.json": "", "mase/graph.txt": ""}
    module = torch.jit.load(folder / "checkpoint.pt", _extra_files=extras)
    problems = [f"extra file {name} is missing" for name, text in extras.items() if not text]
    problems += check_names(module, folder / "keys.txt")
    return problems + check_outputs(module, folder) + check_training(module)


def main():
    torch.set_num_threads(1)
    folders = sorted(path.parent for path in pathlib.Path(sys.argv[1]).glob("*/checkpoint.pt"))
    failed = 0
    for folder in folders:
        problems = check_case(folder)
        failed += bool(problems)
        print(folder.name, "ok" if not problems else "; ".join(problems))
    print(f"{len(folders) - failed} of {len(folders)} cases right")
    return 1 if failed or not folders else 0


sys.exit(main())
