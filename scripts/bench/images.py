#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares reading of image folders with torchvision's ImageFolder and a DataLoader with as many workers, in one run.

Usage: images.py MASE [--workers N] [--images N] [--rounds N]   (run with a Python that has torch, torchvision, Pillow)

Two folders are made: MNIST's shipped digits as grey PNG files, and coloured JPEG files of 500 x 375 pixels, which both
sides resize to 224 and cut. The figure of `mase data` is of the whole command: start, decoding, hash and ranges; that of the
DataLoader is of one epoch of batches of 128. They take turns, and medians are compared. Exit status 1 where mase reads
less than twice as many images per second.
"""

import argparse
import gzip
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

import torch
from PIL import Image
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

GOAL = 2.0
MNIST = pathlib.Path(__file__).parents[2] / "configs/data/mnist"


def write_digits(folder, count):
    """MNIST's first training images as PNG files, in a folder for each digit."""
    with (
        gzip.open(MNIST / "train-images-idx3-ubyte.gz") as images,
        gzip.open(MNIST / "train-labels-idx1-ubyte.gz") as labels,
    ):
        images.seek(16)
        labels.seek(8)
        for i in range(count):
            path = folder / str(labels.read(1)[0])
            path.mkdir(parents=True, exist_ok=True)
            Image.frombytes("L", (28, 28), images.read(784)).save(path / f"{i}.png")


def write_photos(folder, count):
    """JPEG files with as many details as photographs have: noise of two sizes."""
    source = random.Random(0)
    for i in range(count):
        path = folder / f"class{i % 10}"
        path.mkdir(parents=True, exist_ok=True)
        coarse = Image.frombytes("RGB", (25, 19), source.randbytes(25 * 19 * 3)).resize((500, 375), Image.BICUBIC)
        fine = Image.frombytes("RGB", (250, 188), source.randbytes(250 * 188 * 3)).resize((500, 375), Image.BICUBIC)
        Image.blend(coarse, fine, 0.2).save(path / f"{i}.jpg", quality=90)


def mase_seconds(program, folder, options, workers):
    command = [program, "data", "images", "--data-dir", folder, "--num-workers", str(workers), "--json", *options]
    begin = time.perf_counter()
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return time.perf_counter() - begin, told["rows"]


def loader_seconds(folder, steps, workers):
    data = datasets.ImageFolder(folder, transforms.Compose([*steps, transforms.ToTensor()]))
    loader = DataLoader(data, batch_size=128, num_workers=workers)
    begin = time.perf_counter()
    rows = sum(len(images) for images, _ in loader)
    return time.perf_counter() - begin, rows


def median(values):
    return sorted(values)[len(values) // 2]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--images", type=int, default=2000, help="photographs; there are ten times as many digits")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    missed = False
    print(f"{'images':22} {'workers':>7} {'mase /s':>9} {'torchvision /s':>14} {'ratio':>7}")
    with tempfile.TemporaryDirectory() as base:
        digits, photos = pathlib.Path(base) / "digits", pathlib.Path(base) / "photos"
        write_digits(digits, min(60000, 10 * arguments.images))
        write_photos(photos, arguments.images)
        cut = [transforms.Resize(224), transforms.CenterCrop(224)]
        for name, folder, options, steps in (
            ("MNIST as PNG", digits, [], [transforms.Grayscale()]),
            ("500 x 375 JPEG to 224", photos, ["--image-size", "224"], cut),
        ):
            ours, theirs = [], []
            for _ in range(arguments.rounds):
                seconds, rows = mase_seconds(arguments.program, folder, options, arguments.workers)
                ours.append(rows / seconds)
                seconds, rows_there = loader_seconds(folder, steps, arguments.workers)
                theirs.append(rows_there / seconds)
                assert rows == rows_there
            ratio = median(ours) / median(theirs)
            missed |= ratio < GOAL
            print(f"{name:22} {arguments.workers:7} {median(ours):9.0f} {median(theirs):14.0f} {ratio:6.2f}x")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
