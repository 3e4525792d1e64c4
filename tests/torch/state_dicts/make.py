"""Writes the state_dict files of this folder with stock PyTorch: `python make.py` in this folder.

The model is tests/models/shared_module; tensor number i of its state_dict is filled with i + 0.5.
"""
import collections
import os

import torch

source = torch.jit.load("../../models/shared_module/shared_module.script.pt").state_dict()
state = collections.OrderedDict(
    (name, torch.full_like(value, i + 0.5)) for i, (name, value) in enumerate(source.items()))
state._metadata = {"": {"version": 1}}


class Unsafe:
    def __reduce__(self):
        return os.mkdir, ("unsafe_code_was_run",)


def changed(**tensors):
    return {**state, **tensors}


first = next(iter(state))
torch.save(state, "plain.pt")
torch.save({"state_dict": state, "epoch": 3, "note": "x"}, "nested.pt")
torch.save({name: torch.nn.Parameter(value) for name, value in state.items()}, "parameters.pt")
torch.save({name: value.double() for name, value in state.items()}, "double.pt")
torch.save(state, "legacy.pt", _use_new_zipfile_serialization=False)
torch.save({**{name: value for name, value in state.items() if name != first},
            "extra.weight": torch.zeros(2)}, "wrong_names.pt")
torch.save(changed(**{first: torch.zeros(1)}), "wrong_shape.pt")
torch.save(changed(extra=Unsafe()), "unsafe.pt")
torch.save([1, 2], "list.pt")
