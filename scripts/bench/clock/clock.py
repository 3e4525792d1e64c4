#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what clock small designs reach on ECP5, and fits the delays of lib/hardware/design/targets/ecp5.hpp.

usage: scripts/bench/clock/clock.py [--mase BINARY] [--output FOLDER] place [NAME ...]
       scripts/bench/clock/clock.py [--paths BINARY] fit
       scripts/bench/clock/clock.py [--paths BINARY] table

`place` makes the networks of designs.py and emits them, places those whose RTL is not the one that placed.json has, and
keeps there the parameters of the instances, the clock, and by instance the slowest path that ends in it. Designs that are
fitted are placed from one seed, those that are held back from two. It takes minutes for each, PyTorch, Yosys and
nextpnr (put .venv/bin in PATH). `fit` and `table` need that file, and bench_paths of a release build: `fit` prints the delays
that the designs of the fit ask for, `table` compares predicted and placed clocks of all. A changed row of paths is fitted
without placing anything again.
"""

import argparse
import hashlib
import json
import math
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
PLACED = HERE / "placed.json"


def is_held_back(name):
    return name.startswith("held_")


class Runner:
    def __init__(self, options):
        self.mase, self.output = options.mase.resolve(), Path(options.output)

    def run(self, *arguments):
        command = [str(self.mase), *map(str, arguments)]
        result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if result.returncode:
            sys.exit(f"{' '.join(command)}\nexit code {result.returncode}\n{result.stderr}{result.stdout}")
        return result.stdout

    def project(self, design):
        return ["--project-dir", self.output, "--project", design.name]

    def checkpoint(self, design):
        self.output.mkdir(parents=True, exist_ok=True)
        model, config = self.output / f"{design.name}.pt", self.output / f"{design.name}.toml"
        design.save(model)
        shapes = [word for shape in design.inputs for word in ("--input-shape", shape)]
        self.run("init", model, *shapes, "--width", design.width, "-o", config, "--overwrite")
        done = self.run("transform", "--config", config, *shapes, *self.project(design), "--json")
        return json.loads(done)["checkpoint"]

    def emit(self, design, *more):
        """What `mase emit` prints, and the emitted folder."""
        checkpoint, device = self.checkpoint(design), self.output / "ecp5.toml"  # as --place chooses it
        device.write_text('[passes.add_hardware_metadata]\nfamily = "ecp5"\ndsp_block = "mult18x18d"\n')
        words = [*design.options, *self.project(design), "--config", device, *more, "--json"]
        return json.loads(self.run("emit", checkpoint, *words)), self.output / design.name / "hardware"


def hash_of(folder):
    """A hash of all that is placed."""
    digest = hashlib.sha256()
    for file in sorted([*folder.glob("rtl/*"), *folder.glob("ecp5/*")]):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]


def described(folder):
    """What the prediction is made from."""
    design = json.loads((folder / "design.json").read_text())
    instances = [
        {
            "name": entry["name"],
            "module": entry["module"],
            "ff": entry["cost"]["ff"],
            "parameters": {name: value for name, value in entry["parameters"].items() if not name.endswith("FILE")},
        }
        for entry in design["instances"]
    ]
    cost = design["cost"]
    return {
        "rtl": hash_of(folder),
        "lut": round(cost["lut"], 1),
        "dsp": cost["dsp"],
        "seeds": {},
        "instances": instances,
    }


def results():
    return json.loads(PLACED.read_text()) if PLACED.exists() else {}


def keep(name, entry):
    """One instance, one placement a line."""
    kept = results() | {name: entry}
    text = []
    for name, entry in sorted(kept.items()):
        lists = {
            "seeds": [f'"{seed}": {json.dumps(found)}' for seed, found in sorted(entry["seeds"].items())],
            "instances": [json.dumps(instance) for instance in entry["instances"]],
        }
        head = json.dumps({key: value for key, value in entry.items() if key not in lists})[1:-1]
        seeds, instances = (",\n   ".join(lines) for lines in lists.values())
        text.append(f'"{name}": {{{head},\n  "seeds": {{\n   {seeds}}},\n  "instances": [\n   {instances}]}}')
    PLACED.write_text("{\n" + ",\n".join(text) + "\n}\n")


def place(runner, names):
    import designs  # with PyTorch

    for design in [designs.DESIGNS[name] for name in names] or designs.DESIGNS.values():
        made = described(runner.emit(design)[1])
        for seed in ("1", "2") if is_held_back(design.name) else ("1",):
            entry = results().get(design.name)
            if not entry or entry["rtl"] != made["rtl"]:
                entry = made
            if seed in entry["seeds"]:
                continue
            found = runner.emit(design, "--place", "ecp5", "--seed", seed)[0]["placement"]
            entry["seeds"][seed] = {
                "mhz": round(found["mhz"], 1),
                "slowest": found["slowest_path"]["to"],
                "instances": {name: round(path["ns"], 2) for name, path in found["instances"].items()},
            }
            keep(design.name, entry)
            print(design.name, seed, entry["seeds"][seed]["mhz"], entry["seeds"][seed]["slowest"], flush=True)


class Observed:
    """A design that was placed: rows of the paths by instance, and nanoseconds."""

    def __init__(self, name, told):
        import numpy

        self.name = name
        fitted = [ns > 0 for _, ns in told["delays"]]  # of what the technology has
        instances = told["designs"][name]["instances"]
        self.rows = {instance: numpy.array(paths)[:, fitted] for instance, paths in instances.items()}
        self.placed = [(1000 / found["mhz"], found["instances"]) for found in results()[name]["seeds"].values()]

    def error(self, delays, placed):
        """Logarithm of predicted by placed nanoseconds of the whole design."""
        return math.log(max(float((rows @ delays).max()) for rows in self.rows.values()) / placed)

    def residuals(self, delays):
        """Logarithms of predicted by placed delays. An instance that does not hold the design back was given no better
        place than it needs, so that only a longer prediction is known to be wrong; and it counts less than the design."""
        predicted = {name: float((rows @ delays).max()) for name, rows in self.rows.items()}
        found = []
        for worst, instances in self.placed:
            found.append(self.error(delays, worst))
            for name, ns in instances.items():
                error = math.log(predicted[name] / ns) if name in predicted else 0
                found.append(0.3 * (error if ns > 0.9 * worst else max(error, 0)))
        return found


def fitted(observed, names, start):
    """Delays of least squares, none below zero; what no design says anything about stays near `start`. Out of a register
    and into the next one takes half a nanosecond at least."""
    import numpy
    from scipy.optimize import least_squares

    def residuals(delays):
        errors = [error for design in observed for error in design.residuals(delays)]
        return numpy.array(errors + list(0.1 * (delays / start - 1)))

    least = [0.5 if name.startswith("from") else 0 for name in names]
    return least_squares(residuals, start, bounds=(least, numpy.inf)).x


def fit(told):
    import numpy

    kept = results()
    names = [name for name, ns in told["delays"] if ns > 0]
    start = numpy.array([ns for _, ns in told["delays"] if ns > 0])
    observed = [Observed(name, told) for name in sorted(kept) if not is_held_back(name)]
    delays = fitted(observed, names, start)
    # How far the prediction of a design is off that the fit has not seen: each left out of it, and those held back.
    errors = []
    for left_out in observed:
        others = fitted([design for design in observed if design is not left_out], names, start)
        errors.append(left_out.residuals(others)[0])
    for name in filter(is_held_back, kept):
        design = Observed(name, told)
        errors += [design.error(delays, worst) for worst, _ in design.placed]
    spread = math.sqrt(statistics.fmean(error * error for error in errors))
    for design in observed:
        print(f"{design.name:18} {100 * (math.exp(-design.residuals(delays)[0]) - 1):+.0f} %")  # of the clock
    for name, value in zip(names, delays):
        print(f".{name} = {value:.3g},")
    print(f".spread = {spread:.2g},")
    print(
        f"{len(observed)} designs; what the fit has not seen is {100 * statistics.fmean(map(abs, errors)):.0f} % off on average"
    )


def table(told):
    print(f"{'design':18} {'predicted':>9} {'range':>10}  {'placed':>11}  errors")
    errors, inside, rows = [], 0, 0
    for name, entry in sorted(results().items(), key=lambda item: (is_held_back(item[0]), item[0])):
        predicted = told["designs"][name]
        mhz = [found["mhz"] for _, found in sorted(entry["seeds"].items())]
        off = [100 * (predicted["mhz"] / value - 1) for value in mhz]
        if is_held_back(name):
            errors += off
            rows += len(mhz)
            inside += sum(predicted["low_mhz"] <= value <= predicted["high_mhz"] for value in mhz)
        print(
            f"{name:18} {predicted['mhz']:9.0f} {predicted['low_mhz']:4.0f} to {predicted['high_mhz']:3.0f}"
            f"  {' '.join(f'{value:5.0f}' for value in mhz):>11}  {' '.join(f'{value:+.0f} %' for value in off)}"
            f"  {predicted['slowest']} | {entry['seeds']['1']['slowest']}"
        )
    if rows:
        mean, worst = statistics.fmean(map(abs, errors)), max(errors, key=abs)
        print(
            f"held back: {inside} of {rows} placements in the range, {mean:.0f} % off on average, {worst:+.0f} % at most"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mase", default=ROOT / "build/release/bin/mase", type=Path)
    parser.add_argument("--paths", default=ROOT / "build/release/bin/bench_paths", type=Path)
    parser.add_argument("--output", default=ROOT / "build/clock", type=Path)
    parser.add_argument("command", choices=("place", "fit", "table"))
    parser.add_argument("names", nargs="*", help="with `place`: only these designs")
    options = parser.parse_args()
    if options.command == "place":
        place(Runner(options), options.names)
        return
    told = json.loads(subprocess.run([options.paths, PLACED, "ecp5"], check=True, capture_output=True).stdout)
    (fit if options.command == "fit" else table)(told)


if __name__ == "__main__":
    main()
