#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One token of a model's code is changed: the program refuses the file or takes it, and never crashes.

usage: token_test.py --mase BINARY --source ROOT [--count N | --seconds S] [--seed N] [--keep FOLDER]

Models of tests/fixtures are written again with one token of one file of their code deleted, doubled, exchanged with
another token of the file, or replaced by a value at the edge of what its kind can say. `mase show` then imports them.
The exit code is 1 when a run ends by a signal, with exit code 5, or not within its time. scripts/fuzz runs it for long.
"""

import argparse
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[A-Za-z_]\w*|\d[\w.]*(?:e[+-]?\d+)?|\*\*|//|->|[<>=!]=|[^\s\w]')
NUMBERS = ["0", "1", "2", "-1", "7", "2147483648", "4294967295", "9223372036854775807", "-9223372036854775808", "1e309"]
NUMBERS += ["99999999999999999999", "0.", "-0.5", "1000000000000"]
WORDS = [
    "None",
    "True",
    "self",
    "x",
    "torch",
    "ops",
    "getattr",
    "Tensor",
    "int",
    "annotate",
    "uninitialized",
    "forward",
]
WORDS += ["__torch__", "__setstate__", "while", "def", "class", "for"]
OPERATORS = [
    "zeros",
    "empty_strided",
    "as_strided",
    "set_",
    "resize_",
    "from_file",
    "add",
    "mul",
    "floordiv",
    "remainder",
]
OPERATORS += [
    "unsqueeze",
    "stack",
    "index_put_",
    "gather",
    "matmul",
    "conv2d",
    "batch_norm",
    "size",
    "len",
    "list",
    "divmod",
]
OPERATORS += [
    "repeat",
    "expand",
    "view",
    "reshape",
    "fft_fft",
    "sort",
    "unbind",
    "chunk",
    "softmax",
    "sum",
    "gcd",
    "pow",
    "round",
]
MARKS = ["+", "-", "*", "**", "/", "//", "%", "@", "<<", ">>", "(", ")", "[", "]", ".", ",", ":", "=", "==", "<", "~"]
FINE = (0, 1, 2, 3, 4)


def kind_of(place, code):
    """The list of tokens that may stand in the place of this one."""
    token = place.group()
    if token[0].isdigit():
        return NUMBERS
    if code[: place.start()].endswith("torch."):
        return OPERATORS
    return WORDS if token[0].isalpha() or token[0] in '_"' else MARKS


def mutated(code, draw):
    """The code with one token changed, and what was done; mostly to one of its kind, so that the code is still code."""
    places = list(TOKEN.finditer(code))
    in_body = [code[code.rfind("\n", 0, p.start()) + 1 :].startswith("    ") for p in places]
    place = draw.choices(places, [6 if body else 1 for body in in_body])[0]
    token, kind = place.group(), kind_of(place, code)
    alike = [p.group() for p in places if kind_of(p, code) is kind]
    way = draw.choices(["delete", "double", "exchange", "alike", "replace"], [1, 1, 1, 5, 5])[0]
    new = {
        "delete": "",
        "double": token + " " + token,
        "exchange": draw.choice(places).group(),
        "alike": draw.choice(alike),
        "replace": draw.choice(kind),
    }[way]
    line = code.count("\n", 0, place.start()) + 1
    return code[: place.start()] + new + code[place.end() :], f"line {line}: {token!r} -> {new!r}"


def write_mutant(model, path, draw):
    """A copy of the model with one token of its code changed; what was done."""
    with zipfile.ZipFile(model) as archive:
        entries = [(i.filename, archive.read(i)) for i in archive.infolist() if not i.filename.endswith(".debug_pkl")]
    codes = [k for k, (name, text) in enumerate(entries) if name.endswith(".py") and text.strip()]
    # Large files have most of the code.
    k = draw.choices(codes, [len(entries[k][1]) for k in codes])[0]
    name, text = entries[k]
    code, change = mutated(text.decode(), draw)
    entries[k] = (name, code.encode())
    with zipfile.ZipFile(path, "w") as archive:
        for name_, bytes_ in entries:
            archive.writestr(zipfile.ZipInfo(name_), bytes_)
    return f"{Path(model).name}: {name} {change}"


def run(mase, model, inputs, limit):
    """The exit code of the import; negative after a signal, None when it takes too long."""
    shapes = [part for shape in inputs for part in ("--input", shape)]
    command = [mase, "show", model, *shapes, "--max-seconds", str(limit), "--max-memory", "4"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env=environment,
        cwd=os.path.dirname(model),
    ) as process:
        try:
            _, text = process.communicate(timeout=10 * limit + 60)
        except subprocess.TimeoutExpired:
            process.kill()
            return None, "it did not end"
        return process.returncode, text


def small_models(root):
    """Models of little code, whose import takes little more than the start of the program."""
    folder = Path(root).resolve() / "tests/fixtures/models"
    for name in ("functional_ops", "shared_module", "dropout_mlp", "two_inputs", "data_dependent"):
        inputs = sorted(folder.glob(f"{name}/input*.npy"))
        for form in ("script", "trace"):
            path = folder / name / f"{name}.{form}.pt"
            if path.exists() and inputs:
                yield str(path), [str(path) for path in inputs]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mase", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--count", type=int, default=12)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", help="folder for the files that made a run fail")
    options = parser.parse_args()
    mase = os.path.abspath(options.mase)
    models = list(small_models(options.source))
    end = time.monotonic() + options.seconds if options.seconds else None
    counts, failed, number = {}, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < end if end else number < options.count:
            draw = random.Random(f"{options.seed}/{number}")
            model, inputs = models[number % len(models)]
            path = os.path.join(folder, "mutant.pt")
            change = write_mutant(model, path, draw)
            code, text = run(mase, path, inputs, 20)
            counts[code] = counts.get(code, 0) + 1
            if code not in FINE:
                failed += 1
                name = signal.Signals(-code).name if code and code < 0 else f"exit code {code}"
                print(f"mutant {number}: {name}: {change}\n{text[-400:]}", flush=True)
                if options.keep:
                    Path(options.keep).mkdir(parents=True, exist_ok=True)
                    Path(path).rename(Path(options.keep) / f"mutant_{options.seed}_{number}.pt")
            number += 1
    codes = ", ".join(f"{code}: {count}" for code, count in sorted(counts.items(), key=str))
    print(f"mutants: {number}, failed: {failed}, by exit code: {codes}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
