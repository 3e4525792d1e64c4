#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Networks on two and three devices, from a checkpoint to simulated hardware: the codes of one device, in the cycles
that are predicted.

usage: devices_test.py --mase BINARY --source ROOT [unittest arguments]
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

MASE = SOURCE = None
# Fixture, its data set, cycles between frames, the links between three devices, and the frames that these simulate.
NETWORKS = (
    ("jsc_s", "jsc", "64", ("--link-width", 16, "--link-interval", 2), ()),
    ("encoder_tiny", "", "1024", ("--link-width", 16, "--link-latency", 50), ()),
)
# The same on three devices only: shortcuts pass both cuts, and the layers between them have shortcuts of their own.
RESIDUAL = ("resnet8", "", "36864", ("--link-width", 32, "--link-interval", 2), ("--random", 8))

# What a Vivado of a few lines writes for the device and the wrapper that it is asked for.
VIVADO = (
    'set -- $(echo "$*" | sed "s/.*-tclargs //")',
    "mkdir -p reports_$1",
    "cd reports_$1",
    "number=$(sed -n 's/^puts $file \"\\([0-9a-f]*\\) .*/\\1/p' ../build.tcl)",
    "top=$(sed -n 's/^set top \\([A-Za-z0-9_]*\\)$ending.*/\\1/p' ../build.tcl)",
    'for row in "Slice LUTs" "Slice Registers" "Block RAM Tile" DSPs; do echo "| $row | 3 | 0 | 90 | 3 |"; done'
    " > utilization.txt",
    "printf '    WNS(ns)\\n    -------\\n     -1.25\\n' > timing.txt",
    "printf 'Clock  Waveform(ns)  Period(ns)  Frequency(MHz)\\n-----\\nclk {0 2.5} 5.0 200.0\\n' >> timing.txt",
    'echo "$number ${top}_$1_$2" > design.txt',
)


class Devices(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def mase(self, *words, code=0, path=None):
        done = subprocess.run(
            [MASE, *map(str, words), "--project-dir", self.folder],
            env={**os.environ, "PATH": path or os.environ["PATH"]},
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, code, f"{words}\n{done.stdout}\n{done.stderr}")
        return done

    def stand_in(self, program, *lines):
        """A PATH on which a program is a few lines of shell."""
        file = self.folder / "bin" / program
        file.parent.mkdir(exist_ok=True)
        file.write_text("\n".join(("#!/bin/sh", *lines)) + "\n", encoding="utf-8")
        file.chmod(0o755)
        return f"{file.parent}:{os.environ['PATH']}"

    def report(self, mhz):
        """A command that writes nextpnr's report of a clock."""
        report = {
            "fmax": {"clk": {"achieved": float(mhz), "constraint": 200.0}},
            "utilization": {},
            "critical_paths": [],
            "detailed_net_timings": [],
        }
        return f"echo '{json.dumps(report)}' > report.json"

    def checkpoint(self, name, dataset):
        model = SOURCE / f"tests/fixtures/models/{name}/{name}.script.pt"
        config = SOURCE / f"configs/hardware/{name}.toml"
        data = (dataset,) if dataset else ()
        made = self.mase("transform", model, *data, "--config", config, "--project", name, "--json")
        return json.loads(made.stdout)["checkpoint"]

    def vectors(self, project):
        folder = self.folder / project / "hardware/sim/vectors"
        return {path.name: path.read_bytes() for path in folder.iterdir()}

    def test_networks_on_several_devices_give_the_codes_of_one_in_the_predicted_cycles(self):
        for name, dataset, interval, slow, frames in (*NETWORKS, RESIDUAL):
            checkpoint = self.checkpoint(name, dataset)
            for devices, links in ((1, ()), (2, ()), (3, slow)):
                project = f"{name}_{devices}"
                with self.subTest(project):
                    chosen = ("--devices", devices, *links)
                    self.mase("emit", checkpoint, "--ii", interval, *chosen, "--project", project)
                    if name == RESIDUAL[0] and devices < 3:
                        continue
                    words = ("simulate", checkpoint, *frames, "--project", project, "--json")
                    simulated = json.loads(self.mase(*words).stdout)
                    self.assertEqual(simulated["simulation"]["mismatches"], 0)
                    for figure in simulated["timing"].values():
                        self.assertEqual(figure["measured"], figure["predicted"])
                    self.assertEqual(self.vectors(project), self.vectors(f"{name}_1"))
                    sources = (self.folder / project / "hardware").glob("filelist_device?.f")
                    self.assertEqual(len(list(sources)), devices if devices > 1 else 0)

    def test_links_that_are_too_slow_for_the_interval_are_refused_with_a_width_that_does(self):
        checkpoint = self.checkpoint(*NETWORKS[0][:2])
        words = ("emit", checkpoint, "--ii", 64, "--devices", 2, "--project", "slow", "--link-interval", 4)
        refused = self.mase(*words, "--link-width", 8, code=2).stderr
        width = re.search(r"a link_width of (\d+) would do", refused)
        self.mase(*words, "--link-width", width.group(1))
        self.mase(*words, "--link-width", int(width.group(1)) - 8, code=2)

    def test_devices_keep_within_their_limits_or_the_error_says_by_how_much_they_do_not(self):
        checkpoint = self.checkpoint(*NETWORKS[0][:2])
        words = ("emit", checkpoint, "--ii", 64, "--devices", 2, "--project", "limits", "--json")
        for dsp in ("12,100", "100,12"):
            self.mase(*words, "--device-dsp", dsp)
            design = json.loads((self.folder / "limits/hardware/design.json").read_text())
            for device, limit in zip(design["devices"], dsp.split(","), strict=True):
                self.assertLessEqual(device["cost"]["dsp"], int(limit))
        self.assertRegex(
            self.mase(*words, "--device-dsp", "3", code=2).stderr,
            r"no device holds layer '\w+', and a layer is not cut: on device 0 it takes [\d.]+ DSP blocks, "
            r"[\d.]+ more than device_dsp allows \(3.0\)",
        )
        self.assertIn("device_lut has 3 numbers", self.mase(*words, "--device-lut", "9,9,9", code=2).stderr)
        self.assertIn("device", self.mase(*words, "--device-lut", "many", code=2).stderr)

    def test_emitting_for_fewer_devices_leaves_no_file_of_the_others(self):
        checkpoint = self.checkpoint(*NETWORKS[0][:2])
        rtl = self.folder / "jsc_s/hardware/rtl"
        self.mase("emit", checkpoint, "--devices", 3, "--project", "jsc_s")
        self.assertEqual(len(list(rtl.glob("*_device?.sv"))), 3)
        self.mase("emit", checkpoint, "--devices", 1, "--project", "jsc_s")
        self.assertEqual(len(list(rtl.glob("*_device*.sv"))), 0)

    def test_every_device_is_placed_and_the_slowest_has_the_clock_of_all(self):
        checkpoint = self.checkpoint("jsc_tiny", "")
        words = ("emit", checkpoint, "--devices", 2, "--ii", 16, "--project", "placed", "--place", "--json")
        path = self.stand_in(
            "nextpnr-ecp5",
            f"case $PWD/$(cat netlist.json) in *device1*) {self.report(80)};; *) {self.report(90)};; esac",
        )
        placed = json.loads(self.mase(*words, path=path).stdout)["placement"]
        self.assertEqual([(row["device_id"], row["mhz"]) for row in placed["devices"]], [(0, 90), (1, 80)])
        self.assertEqual(placed["mhz"], 80)
        self.assertEqual(placed["frames_per_second"], 80e6 / 16)
        stored = self.folder / "placed/hardware/placement.json"
        self.assertEqual(json.loads(stored.read_text()), placed)

    def test_vivado_implements_every_device_or_the_error_says_what_brings_its_reports(self):
        checkpoint = self.checkpoint("jsc_tiny", "")
        words = ("emit", checkpoint, "--devices", 2, "--ii", 16, "--project", "two", "--vivado", "axi", "--json")
        said = self.mase(*words, code=3).stderr
        self.assertIn("run `make vivado VIVADO_ARGS=axi` in", said)
        self.assertIn("bring vivado/reports_device0 back", said)
        path = self.stand_in("vivado", "echo $* >> words", *VIVADO)
        found = json.loads(self.mase(*words, path=path).stdout)["implementation"]
        hardware = self.folder / "two/hardware"
        top = json.loads((hardware / "design.json").read_text())["top"]
        self.assertEqual([row["top"] for row in found["devices"]], [f"{top}_device{i}_axi" for i in (0, 1)])
        self.assertEqual(found["mhz"], 160)
        made = subprocess.run(
            ["make", "-C", hardware, "vivado-device1", "VIVADO_ARGS=axi"],
            env={**os.environ, "PATH": path},
            capture_output=True,
            check=False,
        )
        self.assertEqual(made.returncode, 0, made.stderr)
        called = (hardware / "vivado/words").read_text().splitlines()
        for line, device in zip(called, (0, 1, 1), strict=True):
            self.assertTrue(line.endswith(f"-source build.tcl -tclargs device{device} axi"), line)


def main():
    global MASE, SOURCE
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mase", required=True, type=Path)
    parser.add_argument("--source", required=True, type=Path)
    options, rest = parser.parse_known_args()
    MASE, SOURCE = options.mase.resolve(), options.source.resolve()
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
