#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The emitted Python driver and notebook on a board that is made up: its DMA answers the bytes of the simulation's
input vectors with those of the output vectors, and nothing else.

usage: pynq_test.py --mase BINARY --source ROOT [unittest arguments]    (exit code 77: this Python has no numpy)
"""

import argparse
import contextlib
import importlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import types
import unittest
from pathlib import Path

MASE = SOURCE = None


def beats(path):
    """The beats of a file of vectors as AXI4-Stream has them in memory, side by side in whole bytes."""
    lines = path.read_text().split()
    count = (4 * len(lines[0]) + 7) // 8
    return [int(line, 16).to_bytes(count, "little") for line in lines]


class Board:
    """What pynq gives: an overlay with the registers `core` and the DMA `dma_0`."""

    def __init__(self, hardware):
        stream = json.loads((hardware / "design.json").read_text())["streams"]
        sides = [hardware / "sim/vectors" / f"{stream[side][0]['name']}.hex" for side in ("inputs", "outputs")]
        sent, answers = (beats(side) for side in sides)
        frames = len(answers) // stream["outputs"][0]["beats"]
        self.frame_bytes = len(b"".join(sent)) // frames
        cut = [len(side) // frames for side in (sent, answers)]
        self.answers = {
            b"".join(sent[i * cut[0] : (i + 1) * cut[0]]): b"".join(answers[i * cut[1] : (i + 1) * cut[1]])
            for i in range(frames)
        }
        number = re.search(r"DESIGN_NUMBER (0x\w+)u", (hardware / "host/host.h").read_text()).group(1)
        self.registers = {0x00: 0x4553414D, 0x04: 1, 0x08: int(number, 16), 0x0C: 0, 0x20: 5000, 0x24: 1}
        self.core = self
        self.dma_0 = types.SimpleNamespace(
            sendchannel=types.SimpleNamespace(transfer=self.send, wait=lambda: None),
            recvchannel=types.SimpleNamespace(transfer=self.receive, wait=self.answer),
        )
        self.transfers, self.frames = [], frames

    def read(self, offset):
        return self.registers[offset]

    def write(self, offset, value):
        if offset != 0x0C:
            self.registers[offset] = value

    def send(self, buffer):
        self.sent = buffer.tobytes()

    def receive(self, buffer):
        self.into = buffer

    def answer(self):
        frames = [self.sent[i : i + self.frame_bytes] for i in range(0, len(self.sent), self.frame_bytes)]
        assert self.registers[0x14] == len(frames), "TLAST comes after another number of frames"
        answer = b"".join(self.answers[frame] for frame in frames)
        self.into.reshape(-1)[:] = numpy.frombuffer(answer, numpy.uint8)
        self.transfers.append(len(frames))


def fake_pynq(board):
    class Buffer(numpy.ndarray):
        def freebuffer(self):
            pass

    return types.SimpleNamespace(
        Overlay=lambda name: board, allocate=lambda shape, kind: numpy.zeros(shape, kind).view(Buffer)
    )


class Pynq(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        place = ("--project-dir", folder.name, "--project", "p", "-q", "--json")
        config = SOURCE / "configs/hardware/jsc_tiny.toml"
        made = cls.run_mase("transform", SOURCE / "tests/fixtures/models/jsc_tiny/jsc_tiny.script.pt", "jsc",
                            "--config", config, *place)  # fmt: skip
        cls.run_mase("emit", json.loads(made)["checkpoint"], "--ii", "4", *place)
        cls.hardware = Path(folder.name) / "p/hardware"
        sys.path.insert(0, str(cls.hardware / "host"))
        cls.addClassCleanup(sys.path.pop, 0)

    @staticmethod
    def run_mase(*words):
        command = [str(MASE), *map(str, words)]
        return subprocess.run(command, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout

    def setUp(self):
        self.board = Board(self.hardware)
        sys.modules["pynq"] = fake_pynq(self.board)
        self.driver = importlib.import_module("mase_pynq")

    def test_the_vectors_pass_and_a_wrong_bit_is_seen(self):
        accelerator = self.driver.Accelerator(self.board)
        self.assertEqual(accelerator.check(self.hardware / "sim/vectors"), (self.board.frames, 0))
        self.assertEqual(self.board.transfers, [self.board.frames])
        frame, answer = next(iter(self.board.answers.items()))
        self.board.answers[frame] = bytes([answer[0] ^ 1]) + answer[1:]
        self.assertEqual(accelerator.check(self.hardware / "sim/vectors"), (self.board.frames, 1))
        self.assertEqual(accelerator.cycles, (1 << 32) + 5000)

    def test_long_inputs_go_in_several_transfers(self):
        accelerator = self.driver.Accelerator(self.board)
        kept, self.driver.TRANSFER_BYTES = self.driver.TRANSFER_BYTES, 3 * self.board.frame_bytes
        self.addCleanup(setattr, self.driver, "TRANSFER_BYTES", kept)
        self.assertEqual(accelerator.check(self.hardware / "sim/vectors"), (self.board.frames, 0))
        self.assertEqual(sum(self.board.transfers), self.board.frames)
        self.assertEqual(max(self.board.transfers), 3)

    def test_another_design_wrong_transfers_and_wrong_sizes_are_errors(self):
        accelerator = self.driver.Accelerator(self.board)
        with self.assertRaisesRegex(ValueError, "x: 17 values are not whole frames of 16"):
            accelerator(numpy.zeros(17))
        with self.assertRaisesRegex(ValueError, "has 1 inputs, not 2"):
            accelerator(numpy.zeros(16), numpy.zeros(16))
        self.board.registers[0x0C] = 1
        with self.assertRaisesRegex(RuntimeError, "TLAST inside a frame"):
            accelerator.check(self.hardware / "sim/vectors")
        self.board.registers[0x08] ^= 1
        with self.assertRaisesRegex(RuntimeError, "another design"):
            self.driver.Accelerator(self.board)

    def test_the_notebook_runs_up_to_frames_of_its_own(self):
        top = json.loads((self.hardware / "design.json").read_text())["top"]
        notebook = json.loads((self.hardware / f"host/{top}.ipynb").read_text())
        cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
        names, printed = {}, io.StringIO()
        with contextlib.chdir(self.hardware / "host"), contextlib.redirect_stdout(printed):
            for cell in cells[:2]:
                exec(cell, names)
            with self.assertRaises(KeyError):  # the board answers no frames but those of the vectors
                exec(cells[2], names)
        self.assertEqual(printed.getvalue(), f"{self.board.frames} frames, 0 elements differ\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mase", type=Path, required=True)
    parser.add_argument("--source", type=Path, required=True)
    options, rest = parser.parse_known_args()
    MASE, SOURCE = options.mase.resolve(), options.source.resolve()
    os.environ["OMP_NUM_THREADS"] = "1"
    try:
        import numpy
    except ImportError:
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
