# SPDX-License-Identifier: Apache-2.0
"""What scripts/zoo --field runs: ONNX files that Python packages ship, beside ONNX Runtime.

outputs    the results of `mase run` are those of ONNX Runtime to 1e-4 of the largest one
quantized  how far the results are from those when inputs and weights of all layers are integers of 8 bits: the
           signal-to-noise ratio of the first result in dB
"""

import argparse
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy
import onnxruntime

CLOSE = 1e-4
QUANTIZE = """
[passes.quantize]
report = false
maximum.config.name = "NA"  # magika masks with minus infinity
[passes.quantize.default.config]
data_in = "integer(8, auto)"
weight = "integer(8, auto)"
bias = "integer(16, auto)"
"""


def numbers(*shape: int) -> numpy.ndarray:
    return (numpy.random.default_rng(0).standard_normal(shape) * 0.3).astype(numpy.float32)


@dataclass
class Case:
    file: str
    inputs: dict[str, numpy.ndarray]
    fixed: dict[str, int] = field(default_factory=dict)


def page() -> numpy.ndarray:
    """A light page with dark bars, in which a detector of text finds something."""
    image = numpy.full((1, 3, 64, 96), 0.9, numpy.float32)
    for left in range(8, 88, 8):
        image[:, :, 24:40, left : left + 5] = -0.9
    return image


VOICE = "silero_vad/data/silero_vad"
TEXT = "rapidocr_onnxruntime/models/ch_"
STATE = numpy.zeros((2, 1, 128), numpy.float32)
LONG, SHORT = {"input": numbers(1, 576), "state": STATE}, {"input": numbers(1, 288), "state": STATE}
CASES = [
    Case(f"{VOICE}.onnx", LONG, {"sr": 16000}),
    Case(f"{VOICE}.onnx", SHORT, {"sr": 8000}),
    Case(f"{VOICE}_16k_sequence.onnx", {"input": numbers(3, 576), "h": numbers(1, 1, 128), "c": numbers(1, 1, 128)}),
    Case(f"{VOICE}_op18_ifless.onnx", LONG, {"sr": 16000}),
    Case(f"{VOICE}_op18_ifless.onnx", SHORT, {"sr": 8000}),
    Case(f"{VOICE}_openvino_16k.onnx", LONG),
    Case(f"{VOICE}_half.onnx", LONG),
    Case(f"{VOICE}_16k_op15.onnx", LONG, {"sr": 16000}),
    Case(
        "magika/models/standard_v3_3/model.onnx",
        {"bytes": numpy.random.default_rng(0).integers(0, 256, (2, 2048)).astype(numpy.int32)},
    ),
    Case(f"{TEXT}ppocr_mobile_v2.0_cls_infer.onnx", {"x": numbers(2, 3, 48, 192)}),
    Case(f"{TEXT}PP-OCRv4_rec_infer.onnx", {"x": numbers(2, 3, 48, 320)}),
    Case(f"{TEXT}PP-OCRv4_det_infer.onnx", {"x": page()}),
]


class Refused(Exception):
    """mase ended with another exit code than 0; its last line."""


class Trial:
    def __init__(self, program: Path, packages: Path, folder: Path, case: Case) -> None:
        self.program, self.file, self.folder, self.case = program, packages / case.file, folder, case
        folder.mkdir(parents=True, exist_ok=True)
        self.inputs: list[object] = []
        for name, value in case.inputs.items():
            numpy.save(folder / f"{name}.npy", value)
            self.inputs += ["--input", f"{name}={folder / name}.npy"]
        self.fixed = [word for name, value in case.fixed.items() for word in ("--fix", f"{name}={value}")]

    def mase(self, *arguments: object) -> str:
        words = [str(word) for word in (self.program, *arguments)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=600)
        if done.returncode != 0:
            raise Refused(done.stderr.strip().splitlines()[-1][:300])
        return done.stdout

    def results(self, model: Path, *options: str) -> list[numpy.ndarray]:
        """In the order of the model's outputs, whose names the files have."""
        for old in self.folder.glob("result*.npy"):
            old.unlink()
        said = self.mase("run", model, *self.inputs, "--output", self.folder / "result.npy", *options)
        files = [line.split(":")[0] for line in said.splitlines()]
        return [numpy.load(file) for file in files if file.endswith(".npy")]

    def expected(self) -> list[numpy.ndarray]:
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(self.file, options, providers=["CPUExecutionProvider"])
        fixed = {name: numpy.array(value, numpy.int64) for name, value in self.case.fixed.items()}
        return session.run(None, {**self.case.inputs, **fixed})

    def quantized(self, expected: numpy.ndarray) -> str:
        config = self.folder / "quantize.toml"
        config.write_text(QUANTIZE)
        options = ("--project-dir", self.folder, "--project", "q", "--overwrite", "-q")
        self.mase("transform", self.file, "--config", config, *self.inputs, *self.fixed, *options)
        ours = self.results(self.folder / "q/software/transform/transformed_ckpt/graph_module.pt")[0]
        noise = float(((ours.astype("f8") - expected) ** 2).sum())
        signal = float((expected.astype("f8") ** 2).sum())
        return "exact" if noise == 0 else f"{10 * numpy.log10(signal / noise):.1f} dB"

    def run(self) -> tuple[str, str]:
        expected = self.expected()
        ours = self.results(self.file, *self.fixed)
        if [one.shape for one in ours] != [one.shape for one in expected]:
            return "shape", ""
        worst = max(
            float(numpy.abs(a.astype("f8") - b).max()) / max(float(numpy.abs(b).max()), 1e-30)
            for a, b in zip(ours, expected)
        )
        return f"{worst:.1e}", self.quantized(expected[0])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("packages", type=Path, help="the folder into which the packages are installed")
    parser.add_argument("part", nargs="*", help="only files whose name has it")
    arguments = parser.parse_args()
    failed = 0
    print("| file | fixed | distance | 8 bits |\n|---|---|---|---|")
    for i, case in enumerate(CASES):
        if arguments.part and not any(part in case.file for part in arguments.part):
            continue
        fixed = ", ".join(f"{name} = {value}" for name, value in case.fixed.items())
        trial = Trial(arguments.program.resolve(), arguments.packages.resolve(), arguments.folder / str(i), case)
        try:
            outputs, quantized = trial.run()
            failed += outputs == "shape" or float(outputs) > CLOSE
        except Refused as refusal:
            outputs, quantized, failed = str(refusal), "", failed + 1
        print(f"| {Path(case.file).name} | {fixed} | {outputs} | {quantized} |", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
