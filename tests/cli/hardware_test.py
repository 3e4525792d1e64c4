#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""From a checkpoint to verified hardware as a user meets it: every shipped design through Verilator, and what is refused.

usage: hardware_test.py --mase BINARY --source ROOT [unittest arguments]
"""

import argparse
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile
from pathlib import Path

MASE = SOURCE = None
DESIGNS = (
    "jsc_tiny.toml",
    "jsc_three_linear.toml",
    "jsc_s.toml",
    "toy.toml",
    "lenet.toml",
    "cnv_small.toml",
    "resnet8.toml",
    "mobile_tiny.toml",
    "unet_tiny.toml",
    "encoder_tiny.toml",
    "vit_tiny.toml",
    "bert_tiny.toml",
    "vit_tiny_mnist.toml",
    "transformer_jets.toml",
    "bert_tiny_toy.toml",
    "llama_tiny_text.toml",
    "functional_ops_first.toml",
    "functional_ops_second.toml",
)


def mase(*words, **environment):
    command = [str(MASE), *map(str, words)]
    if words[0] == "simulate":
        command += ["--optimise", "0"]  # simulations of tests take less time than an optimised build of their model
    return subprocess.run(
        command,
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
        check=False,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )


def running(word):
    """Command lines of the processes that have this word among their arguments."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            arguments = path.read_bytes().split(b"\0")
        except OSError:  # it has ended
            continue
        if word.encode() in arguments:
            found.append(arguments)
    return found


def files_below(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


def edit_archive(source, target, edit):
    """Copies a checkpoint; `edit(name, bytes)` gives the new bytes of an entry, or None to leave it out."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as new:
        for entry in old.infolist():
            data = edit(entry.filename, old.read(entry))
            if data is not None:
                new.writestr(entry.filename, data)


class Hardware(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls._folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls._folder.cleanup)
        cls.folder = Path(cls._folder.name)
        model = SOURCE / "tests/fixtures/models/jsc_tiny"
        made = mase(
            "transform",
            model / "jsc_tiny.script.pt",
            "jsc",
            "--config",
            SOURCE / "configs/hardware/jsc_tiny.toml",
            "--project-dir",
            cls.folder,
            "--project",
            "tiny",
            "--json",
        )
        assert made.returncode == 0, made.stderr
        cls.checkpoint = json.loads(made.stdout)["checkpoint"]
        cls.float_model = model / "jsc_tiny.script.pt"

    def run_mase(self, *words, code=0, **environment):
        result = mase(*words, **environment)
        self.assertEqual(result.returncode, code, f"{words}\n{result.stdout}\n{result.stderr}")
        return result

    def emit(self, project, *words, code=0):
        return self.run_mase(
            "emit", self.checkpoint, "--project-dir", self.folder, "--project", project, *words, code=code
        )

    def simulate(self, project, *words, code=0, **environment):
        return self.run_mase(
            "simulate",
            self.checkpoint,
            "--project-dir",
            self.folder,
            "--project",
            project,
            *words,
            code=code,
            **environment,
        )

    def hardware(self, project):
        return self.folder / project / "hardware"

    def stand_in(self, name, *lines):
        """A PATH in which the program `name` is a shell script of these lines."""
        tools = Path(tempfile.mkdtemp(dir=self.folder))
        program = tools / name
        program.write_text("\n".join(("#!/bin/sh", *lines, "")))
        program.chmod(0o755)
        return f"{tools}:{os.environ['PATH']}"


class Results(Hardware):
    def test_two_emits_are_equal_byte_for_byte(self):
        self.emit("one", "--ii", "16")
        self.emit("two", "--ii", "16")
        self.assertEqual(files_below(self.hardware("one")), files_below(self.hardware("two")))

    def test_cycles_are_measured_over_as_many_frames_as_the_prediction_needs(self):
        self.emit("steady", "--ii", "1")
        simulated = json.loads(self.simulate("steady", "--random", "3", "--json").stdout)
        timing = simulated["timing"]
        # With a frame a cycle as many are under way as the latency has cycles.
        self.assertEqual(timing["interval"], {"predicted": 1, "measured": 1})
        self.assertGreater(simulated["timing_frames"], timing["last"]["predicted"])

    def test_the_page_of_a_project_shows_the_latencies(self):
        self.emit("page", "--ii", "4")
        self.simulate("page", "--random", "20")
        self.run_mase("report", self.folder / "page")
        page = (self.folder / "page/report.html").read_text()
        record = json.loads((self.folder / "page/records/simulate.json").read_text())
        times = record["document"]["simulation"]["latency_histogram"]
        self.assertEqual(sum(times["frames"]), 20)
        self.assertIn("Frames by latency", page)
        self.assertIn(f">{times['least']}", page)

    def test_rows_of_several_inputs_are_simulated_by_name(self):
        model = SOURCE / "tests/fixtures/models/two_inputs"
        rows = self.folder / "rows"
        rows.mkdir()
        shutil.copy(model / "input_0.npy", rows / "features.npy")
        shutil.copy(model / "input_1.npy", rows / "context.npy")
        header = "{'descr': '|u1', 'fortran_order': False, 'shape': (4,), }".ljust(117) + "\n"
        (rows / "y.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + header.encode() + bytes(4))
        inputs = ("--input", model / "input_0.npy", "--input", model / "input_1.npy")
        config = self.folder / "inputs.toml"
        config.write_text(self.run_mase("init", model / "two_inputs.script.pt", *inputs).stdout)
        project = ("--project-dir", self.folder, "--project", "inputs")
        self.run_mase("transform", "--config", config, *inputs, *project)
        checkpoint = self.folder / "inputs/software/transform/transformed_ckpt/graph_module.pt"
        self.run_mase("emit", checkpoint, *project)
        made = self.run_mase("simulate", checkpoint, "npy", "--data-dir", rows, "--split", "train", *project, "--json")
        simulation = json.loads(made.stdout)["simulation"]
        self.assertEqual((simulation["frames"], simulation["mismatches"]), (2, 0))

    def test_the_alias_of_the_seed_emits_too(self):
        self.run_mase("emit-verilog", self.checkpoint, "--ii", "16", "--project-dir", self.folder, "--project", "alias")
        self.assertTrue((self.hardware("alias") / "design.json").exists())

    def test_the_rtl_is_as_accurate_as_the_integer_model(self):
        self.emit("levels", "--ii", "16")
        words = ("test", self.checkpoint, "jsc", "--hardware", self.hardware("levels"), "--json")
        levels = json.loads(self.run_mase(*words, "--level", "quantized,integer,rtl").stdout)["levels"]
        self.assertEqual(levels["integer"], levels["rtl"])
        for level in levels:
            alone = json.loads(self.run_mase(*words, "--level", level).stdout)
            self.assertEqual((alone["level"], alone["scores"]), (level, levels[level]))

    def test_levels_of_some_rows_stand_in_one_table(self):
        lines = self.run_mase("test", self.checkpoint, "jsc", "--level", "float,integer", "--rows", "50").stdout
        table = [[cell.strip() for cell in line.split("|")[1:3]] for line in lines.splitlines()]
        self.assertEqual(
            [row for row in table if row[0:1] in (["float"], ["integer"])], [["float", "50"], ["integer", "50"]]
        )
        self.run_mase("test", self.checkpoint, "jsc", "--rows", "0", code=2)

    def test_a_flipped_bit_in_any_memory_is_caught(self):
        self.emit("fault", "--ii", "16")
        result = json.loads(self.simulate("fault", "jsc", "--inject-fault", "all", "--json").stdout)
        self.assertEqual(len(result["faults"]), 4)
        self.assertTrue(all(fault["mismatches"] > 0 for fault in result["faults"]))
        self.simulate("fault", "jsc", "--inject-fault", "seq_blocks_2_weight.mem", code=1)

    def test_flipped_bits_of_memories_are_drawn_caught_and_counted(self):
        self.emit("mutants", "--ii", "16")
        result = json.loads(self.simulate("mutants", "--mutate", "40", "--json").stdout)["mutants"]
        total = result["total"]
        self.assertEqual(total["drawn"], sum(memory["drawn"] for memory in result["memories"].values()))
        self.assertEqual(total["drawn"], total["caught"] + total["hidden"])  # none missed, none ignored
        self.assertGreater(total["caught"], 20)
        for other in ("--mutate-rtl", "2"), ("--inject-fault", "all"):
            self.assertIn("give only one of", self.simulate("mutants", "--mutate", "2", *other, code=2).stderr)

    def test_changes_of_the_rtl_are_drawn_built_and_caught(self):
        self.emit("changed_rtl", "--ii", "16")
        before = files_below(self.hardware("changed_rtl") / "rtl")
        result = json.loads(self.simulate("changed_rtl", "--mutate-rtl", "12", "--json").stdout)["rtl_mutants"]
        self.assertEqual(result["run"], 12)
        self.assertEqual(result["caught"] + len(result.get("passed", [])), 12)
        # Some that are drawn change nothing that can be seen, as the width of a product that is wide enough.
        self.assertGreaterEqual(result["caught"], 7)
        self.assertEqual(before, files_below(self.hardware("changed_rtl") / "rtl"))

    def test_the_frames_of_the_bench_are_simulated_when_none_are_named(self):
        self.emit("shipped", "--ii", "16")
        frames = json.loads(self.simulate("shipped", "--json").stdout)["simulation"]["frames"]
        self.assertGreaterEqual(frames, 100)
        for vectors in (self.hardware("shipped") / "sim/vectors").iterdir():
            self.assertEqual(vectors.read_text(encoding="utf-8").count("\n") % frames, 0)

    def test_the_passes_of_one_file_give_the_same_hardware(self):
        project = ["--project-dir", self.folder, "--project", "file"]
        config = SOURCE / "configs/examples/jsc_tiny_hardware.toml"
        made = self.run_mase("transform", self.float_model, "jsc", "--config", config, *project, "--json")
        self.run_mase("simulate", json.loads(made.stdout)["checkpoint"], "jsc", *project)
        self.emit("command", "--ii", "16")
        self.assertEqual(self.rtl("file"), self.rtl("command"))

    def test_channels_with_fraction_bits_of_their_own_agree_folded_and_unfolded(self):
        config = self.folder / "channels.toml"
        shipped = (SOURCE / "configs/hardware/jsc_tiny.toml").read_text(encoding="utf-8")
        fixed = "weight_width = 6\nweight_frac_width = 5\n"
        self.assertIn(fixed, shipped)
        chosen = 'weight_width = 6\nweight_frac_width = "auto"\nweight_granularity = "channel"\n'
        config.write_text(shipped.replace(fixed, chosen), encoding="utf-8")
        made = ["--config", config, "--project-dir", self.folder, "--project", "channels", "--json"]
        made = json.loads(self.run_mase("transform", self.float_model, "jsc", *made).stdout)
        for interval in "1", "16":
            project = ["--project-dir", self.folder, "--project", f"channels_{interval}"]
            self.run_mase("emit", made["checkpoint"], "--ii", interval, *project)
            result = self.run_mase("simulate", made["checkpoint"], "jsc", "--rows", "40", *project, "--json")
            self.assertEqual(json.loads(result.stdout)["simulation"]["mismatches"], 0)
            design = json.loads((self.hardware(f"channels_{interval}") / "design.json").read_text(encoding="utf-8"))
            modules = [instance["module"] for instance in design["instances"]]
            self.assertIn("mase_channel_shift", modules)
        scores = [
            json.loads(self.run_mase("test", made["checkpoint"], "jsc", "--level", level, "--json").stdout)["scores"]
            for level in ("quantized", "integer")
        ]
        self.assertEqual(*scores)

    def rtl(self, project):
        files = files_below(self.hardware(project))
        return {name: data for name, data in files.items() if name.startswith("rtl")}

    def test_without_a_target_a_checkpoint_keeps_its_folds(self):
        config = self.folder / "folded.toml"
        shipped = (SOURCE / "configs/hardware/jsc_tiny.toml").read_text(encoding="utf-8")
        chosen = '\n[[pass]]\nrun = "add_hardware_metadata"\ninitiation_interval = 48\nmultiplier = "fabric"\n'
        config.write_text(shipped + chosen, encoding="utf-8")
        project = ["--project-dir", self.folder, "--project", "kept"]
        made = self.run_mase("transform", self.float_model, "jsc", "--config", config, *project, "--json")
        folded = json.loads(made.stdout)["checkpoint"]
        self.run_mase("emit", folded, *project)
        self.emit("asked", "--ii", "48", "--multiplier", "fabric")
        self.assertEqual(self.rtl("kept"), self.rtl("asked"))
        self.run_mase("simulate", folded, "jsc", "--rows", "8", *project)
        project[-1] = "changed"
        self.run_mase("emit", folded, "--ii", "16", *project)
        self.emit("changed_too", "--ii", "16")
        self.assertEqual(self.rtl("changed"), self.rtl("changed_too"))
        self.assertNotEqual(self.rtl("changed"), self.rtl("kept"))

    def test_targets_are_checked_as_in_a_file_and_named_by_their_flags(self):
        for flag, value in ("--lut", "-1"), ("--multiplier", "wood"), ("--max-parallelism", "0"):
            self.assertIn(f"{flag}: error: option", self.emit("refused", flag, value, code=2).stderr)

    def test_waves_and_coverage_are_written(self):
        self.emit("waves", "--ii", "16")
        result = self.simulate("waves", "--random", "8", "--waves", "--json")
        self.assertTrue(Path(json.loads(result.stdout)["simulation"]["trace_file"]).exists())
        text = self.simulate("waves", "--random", "100", "--coverage").stdout
        self.assertRegex(text, r"total +\| \d+ of \d+ \(\d+ %\)")

    def test_ctrl_c_ends_a_simulation_and_what_it_started(self):
        self.emit("stopped", "--ii", "16")
        self.simulate("stopped", "--random", "8")  # builds the bench
        place = ("--project-dir", self.folder, "--project", "stopped", "--random", 1_000_000)
        command = map(str, (MASE, "simulate", self.checkpoint, *place))
        process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        streams = str(self.hardware("stopped") / "sim/streams.txt")
        while not running(streams) and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        message = process.communicate()[1]
        self.assertEqual(process.returncode, 130, message)
        self.assertEqual(running(streams), [])

    def test_nothing_of_libtorch_is_opened(self):
        if not shutil.which("ldd"):
            self.skipTest("no dynamic loader to watch")
        result = self.run_mase(
            "emit", self.checkpoint, "--ii", "16", "--project-dir", self.folder, "--project", "light", LD_DEBUG="libs"
        )
        self.assertNotIn("libmase_torch", result.stderr)


class Placement(Hardware):
    """With a nextpnr of a few lines: the real one runs in tests/hardware/emit/place_test.cpp."""

    REPORT = {
        "fmax": {"clk": {"achieved": 100.0, "constraint": 200.0}},
        "utilization": {"TRELLIS_FF": {"used": 9, "available": 24288}},
        "critical_paths": [],
        "detailed_net_timings": [],
    }

    def placer(self, *lines):
        return self.stand_in("nextpnr-ecp5", *lines)

    def place(self, name, *words):
        return ("emit", self.checkpoint, "--project-dir", self.folder, "--project", name, "--place", *words)

    def test_throughput_is_that_of_the_placed_clock(self):
        path = self.placer(f"echo '{json.dumps(self.REPORT)}' > report.json")
        # One output at a time, since blocks of another family would be shared by other outputs.
        result = json.loads(self.run_mase(*self.place("placed", "--ii", "80", "--json"), PATH=path).stdout)
        self.assertEqual(result["placement"]["mhz"], 100)
        self.assertEqual(result["placement"]["frames_per_second"], 100e6 / 80)
        stored = self.hardware("placed") / "placement.json"
        self.assertEqual(json.loads(stored.read_text()), result["placement"])
        self.emit("placed", "--ii", "80")  # the same design
        self.assertTrue(stored.exists())
        self.emit("placed", "--ii", "4")
        self.assertFalse(stored.exists(), "the clock of another design")

    def test_the_placer_begins_where_the_seed_says(self):
        path = self.placer(f"echo '{json.dumps(self.REPORT)}' > report.json", f"echo $* > {self.folder}/words")
        result = self.run_mase(*self.place("seeded", "--seed", "7", "--json"), PATH=path)
        self.assertEqual(json.loads(result.stdout)["placement"]["seed"], 7)
        self.assertIn(" --seed 7 ", (self.folder / "words").read_text())

    def test_families_without_a_placer_are_refused_before_anything_is_written(self):
        for family, said in (("xc7", "nextpnr does not place for 'xc7'"), ("zx81", "no FPGA family 'zx81'")):
            self.assertIn(said, mase(*self.place("refused", family)).stderr)
        self.assertFalse(self.hardware("refused").exists())

    def test_what_the_placer_says_when_it_fails_is_shown(self):
        result = mase(*self.place("failed", "ecp5"), PATH=self.placer("echo 'no such pin' >&2", "exit 3"))
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertRegex(
            result.stderr, r"placement by nextpnr failed \(nextpnr-ecp5 ended with status 3\):\s+no such pin"
        )

    def test_ctrl_c_while_placing_leaves_the_hardware(self):
        started = self.folder / "placing"
        path = self.placer(f"touch {started}", "sleep 600")
        command = map(str, (MASE, *self.place("stopped_placing")))
        process = subprocess.Popen(
            command, env={**os.environ, "PATH": path}, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
        )
        while not started.exists() and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        message = process.communicate()[1]
        self.assertEqual(process.returncode, 130, message)
        self.assertIn("the hardware has been written, but no measurements of it", message)
        self.assertTrue((self.hardware("stopped_placing") / "design.json").exists())
        self.assertFalse((self.hardware("stopped_placing") / "placement.json").exists())


class Vivado(Hardware):
    """With a Vivado of a few lines, which writes the reports of its own run."""

    UTILIZATION = """
| Slice LUTs      |  500 |     0 |     63400 |  0.79 |
| Slice Registers |  700 |     0 |    126800 |  0.55 |
| Block RAM Tile  |    2 |     0 |       135 |  1.48 |
| DSPs            |    3 |     0 |       240 |  1.25 |
"""
    TIMING = """
    WNS(ns)      TNS(ns)
    -------      -------
     -1.250      -80.000

Clock  Waveform(ns)         Period(ns)      Frequency(MHz)
-----  ------------         ----------      --------------
clk    {0.000 2.500}        5.000           200.000
"""
    WORKS = (
        "mkdir -p reports",
        f"cat > reports/utilization.txt <<'END'{UTILIZATION}END",
        f"cat > reports/timing.txt <<'END'{TIMING}END",
        "number=$(sed -n 's/^puts $file \"\\([0-9a-f]*\\) .*/\\1/p' build.tcl)",
        'case "$*" in *axi) echo "$number JscTiny_axi";; *) echo "$number JscTiny";; esac > reports/design.txt',
        "exit 1",  # the clock is missed
    )

    def vivado(self, *lines):
        return self.stand_in("vivado", *lines)

    def implement(self, name, *words):
        return ("emit", self.checkpoint, "--ii", "16", "--project-dir", self.folder, "--project", name, *words)

    def test_a_missed_clock_is_a_result_and_reports_are_read_again_where_vivado_is_not(self):
        words = self.implement("vivado", "--vivado", "axi", "--json")
        first = json.loads(self.run_mase(*words, PATH=self.vivado(*self.WORKS)).stdout)["implementation"]
        self.assertEqual(first["top"], "JscTiny_axi")
        self.assertEqual(first["mhz"], 160)
        self.assertEqual(first["frames_per_second"], 160e6 / 16)
        self.assertEqual(first["used"]["lut"], 500)
        stored = self.hardware("vivado") / "implementation.json"
        self.assertEqual(json.loads(stored.read_text()), first)
        self.assertEqual(json.loads(self.run_mase(*words).stdout)["implementation"], first)
        core = mase(*self.implement("vivado", "--vivado"))
        self.assertEqual(core.returncode, 3, "reports of the wrapper are none of the bare top")
        self.assertRegex(core.stderr, "there is no 'vivado' in PATH, and .* run `make vivado` in")
        self.emit("vivado", "--ii", "4")
        self.assertFalse(stored.exists(), "the clock of another design")

    def test_what_vivado_says_when_it_fails_is_shown_and_other_words_are_refused(self):
        failed = mase(*self.implement("failed", "--vivado", "core"), PATH=self.vivado("echo 'no licence'", "exit 2"))
        self.assertEqual(failed.returncode, 3, failed.stderr)
        self.assertIn("Vivado failed:\nno licence", failed.stderr)
        refused = mase(*self.implement("refused", "--vivado", "both"))
        self.assertEqual(refused.returncode, 2, refused.stderr)
        self.assertIn("Vivado implements core or axi, not 'both'", refused.stderr)
        self.assertFalse(self.hardware("refused").exists())


class Axi(Hardware):
    def test_the_emitted_driver_and_wrapper_give_the_vectors_of_a_network(self):
        self.emit("axi", "--ii", "16", "--tdata", "power_of_two")
        done = subprocess.run(
            ["make", "sim-axi"], cwd=self.hardware("axi"), check=False, capture_output=True, text=True
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"axi: (\d+) frames, \1 as expected, 0 checks failed")


class Packing(Hardware):
    def shared(self, project, *words, **options):
        """Outputs of a multiplier of the matrix, emitted with options of add_hardware_metadata."""
        lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in options.items())
        config = self.folder / f"{project}.toml"
        config.write_text(f'[[pass]]\nrun = "add_hardware_metadata"\ninitiation_interval = 16\n{lines}')
        self.emit(project, "--config", config, *words)
        design = json.loads((self.hardware(project) / "design.json").read_text())
        return [i["parameters"].get("PACK", 1) for i in design["instances"] if i["module"] == "mase_linear"]

    def test_outputs_share_the_multipliers_of_the_part_or_the_family(self):
        self.assertEqual(self.shared("shared"), [2])
        self.simulate("shared", "jsc", "--rows", "20")
        self.assertEqual(self.shared("alone", packing=False), [1])
        # Weights of 6 bits leave 11 of 18 for products of 14.
        self.assertEqual(self.shared("narrow", dsp_block="mult18x18d"), [1])
        self.assertEqual(self.shared("family", "--synth", "ecp5"), [1])
        self.assertEqual(self.shared("told", "--synth", "ecp5", dsp_block="dsp48e1"), [2])


class Family(Hardware):
    def emitted(self, project, *words, **options):
        """What the pass says of the clock."""
        lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in options.items())
        config = self.folder / f"{project}.toml"
        config.write_text(f'[[pass]]\nrun = "add_hardware_metadata"\ninitiation_interval = 16\n{lines}')
        result = self.emit(project, "--config", config, "--json", *words)
        return next(entry["info"] for entry in json.loads(result.stdout)["passes"] if "family" in entry["info"])

    def test_the_clock_is_that_of_the_part_or_of_the_family(self):
        self.assertEqual(self.emitted("default")["family"], "ecp5")  # as a search
        self.assertEqual(self.emitted("part", "--part", "xczu3eg-sbva484-1-e")["family"], "xc7")
        named = ("--part", "xc7a100tcsg324-1")
        self.assertEqual(self.emitted("synthesised", "--synth", "ecp5", *named)["family"], "ecp5")
        self.assertEqual(self.emitted("told", *named, family="ecp5")["family"], "ecp5")


class Reload(Hardware):
    """Hardware of one checkpoint with the weights of another, whose floats are three quarters of the first one's."""

    def transformed(self, name, config):
        def scaled(entry, data):
            if "/data/" not in entry or len(data) < 16:
                return data
            return struct.pack(f"<{len(data) // 4}f", *(0.75 * x for x in struct.unpack(f"<{len(data) // 4}f", data)))

        model = self.folder / f"{name}.script.pt"
        edit_archive(self.float_model, model, scaled)
        made = self.run_mase(
            "transform", model, "jsc", "--config", config, "--project-dir", self.folder, "--project", name, "--json"
        )
        return json.loads(made.stdout)["checkpoint"]

    def test_weights_of_another_checkpoint_are_loaded_and_those_that_do_not_fit_are_refused(self):
        config = SOURCE / "configs/hardware/jsc_tiny.toml"
        other = self.transformed("other", config)
        here = ("--project-dir", self.folder, "--project", "reload")
        image = self.folder / "other.bin"
        self.emit("reload", "--reloadable", "--ii", "16")
        self.simulate("reload", "--random", "20")
        self.simulate("reload", "--inject-fault", "all", "--random", "100")
        self.run_mase("emit", other, "--reload-image", image, *here)
        own = (self.hardware("reload") / "host/weights.bin").read_bytes()
        # The same places (their number is word 4) of the same design (word 2), other contents.
        self.assertEqual(len(own), len(image.read_bytes()))
        self.assertEqual(own[8:12], image.read_bytes()[8:12])
        self.assertNotEqual(own[20:], image.read_bytes()[20:])
        found = self.run_mase("simulate", other, "--reload", *here)
        self.assertEqual(found.stdout.count(", 0 checks failed"), 6, found.stdout)
        narrow = self.folder / "narrow.toml"
        narrow.write_text(config.read_text().replace("weight_width = 6", "weight_width = 5"))
        refused = self.run_mase("emit", self.transformed("narrow", narrow), "--reload-image", image, *here, code=3)
        self.assertRegex(
            refused.stderr, r"line \d+ of the graph is '.*weight=integer\(5, 5\).*, that of the hardware '.*6, 5"
        )
        self.emit("stays", "--ii", "16")
        refused = self.run_mase("emit", other, "--reload-image", image, *here[:-1], "stays", code=2)
        self.assertIn("emit it with --reloadable", refused.stderr)


class Parts(Hardware):
    def test_a_design_larger_than_its_part_is_said_with_parts_that_hold_it(self):
        result = self.run_mase(
            "emit",
            self.checkpoint,
            "--ii",
            "1",
            "--part",
            "xc7s6cpga196-2",
            "--project-dir",
            self.folder,
            "--project",
            "large",
        )
        self.assertRegex(result.stderr, r"larger than its part: .* of xc7s6; devices that hold it: \w+")
        self.assertTrue((self.hardware("large") / "design.json").exists())
        result = self.emit("small", "--ii", "64", "--part", "xc7a100tcsg324-1")
        self.assertNotIn("larger", result.stderr)
        self.assertRegex(result.stdout, r"LUT \d+ %, DSP \d+ %, RAMB36 \d+ % of xc7a100t")
        unnamed = self.emit("unnamed", "--ii", "64").stdout
        self.assertIn(" for ecp5, ", unnamed)
        self.assertNotIn("xc7", unnamed)

    def test_an_unknown_part_is_refused(self):
        result = self.emit("unknown", "--part", "xc7a101tcsg324-1", code=2)
        self.assertIn("xc7a10", result.stderr)
        self.assertFalse((self.hardware("unknown") / "design.json").exists())


class Refusals(Hardware):
    def test_float_layers_are_listed_with_the_passes_that_help(self):
        plain = self.folder / "plain.toml"
        plain.write_text("[passes.count_dropout]\n", encoding="utf-8")
        made = self.run_mase(
            "transform",
            self.float_model,
            "jsc",
            "--config",
            plain,
            "--project-dir",
            self.folder,
            "--project",
            "plain",
            "--json",
        )
        result = self.run_mase(
            "emit", json.loads(made.stdout)["checkpoint"], "--project-dir", self.folder, "--project", "plain", code=4
        )
        for word in ("seq_blocks_0", "seq_blocks_2", "quantize", "fuse_batch_norm"):
            self.assertIn(word, result.stderr)
        self.assertFalse(self.hardware("plain").exists())

    def test_a_model_that_is_no_checkpoint(self):
        result = self.run_mase("emit", self.float_model, "--project-dir", self.folder, "--project", "none", code=3)
        self.assertIn("not a checkpoint", result.stderr)

    def test_a_checkpoint_without_codes(self):
        damaged = self.folder / "codes.pt"
        edit_archive(self.checkpoint, damaged, lambda name, data: None if "/codes/" in name else data)
        result = self.run_mase("emit", damaged, "--project-dir", self.folder, "--project", "codes", code=3)
        self.assertIn("codes", result.stderr)

    def test_a_checkpoint_of_a_newer_version(self):
        def newer(name, data):
            if not name.endswith("mase/info.json"):
                return data
            return json.dumps({**json.loads(data), "format_version": 999}).encode()

        damaged = self.folder / "newer.pt"
        edit_archive(self.checkpoint, damaged, newer)
        result = self.run_mase("emit", damaged, "--project-dir", self.folder, "--project", "newer", code=3)
        self.assertIn("version", result.stderr)

    def test_a_fold_that_does_not_divide(self):
        config = self.folder / "fold.toml"
        config.write_text("[passes.add_hardware_metadata.layers.seq_blocks_2]\nsimd = 3\npe = 5\n", encoding="utf-8")
        result = self.emit("fold", "--config", config, code=2)
        self.assertIn("16", result.stderr)
        self.assertFalse(self.hardware("fold").exists())

    def test_an_interval_that_cannot_be_met(self):
        result = self.emit("limit", "--lut", "1", code=1)
        self.assertIn("lut", result.stderr.lower())

    def test_hardware_of_another_design_or_edited(self):
        self.simulate("nothing", "jsc", code=3)
        self.emit("edited", "--ii", "16")
        path = self.hardware("edited") / "rtl" / "seq_blocks_2_weight.mem"
        path.write_text("0" + path.read_text(encoding="utf-8")[1:], encoding="utf-8")
        self.assertIn("emit again", self.simulate("edited", "jsc", code=3).stderr)

    def test_a_missing_verilator_is_named(self):
        self.emit("tools", "--ii", "16")
        result = self.simulate("tools", "--random", "4", code=3, PATH=str(self.folder))
        self.assertIn("verilator", result.stderr)

    def test_a_folder_that_cannot_be_written(self):
        (self.folder / "blocked").write_text("in the way", encoding="utf-8")
        result = self.run_mase("emit", self.checkpoint, "--project-dir", self.folder, "--project", "blocked", code=3)
        self.assertIn("blocked", result.stderr)


class Operators(Hardware):
    """Every operator with a datapath, by itself between the inputs and an output of one design."""

    LAYERS = (
        "conv1d",
        "conv2d",
        "batch_norm1d",
        "batch_norm2d",
        "relu",
        "relu_inplace",
        "softplus",
        "tanh",
        "gelu",
        "gelu_tanh",
    )

    FUNCTIONS = (
        *("abs_1", "abs_2", "add", "neg", "mish", "celu", "hardshrink", "softshrink", "logsigmoid"),
        *("square", "exp", "erf", "sin", "cos", "tan", "sinh", "cosh"),
        *("maximum", "minimum", "mean", "sum_1"),
    )
    OF_UNSIGNED = ("sqrt", "rsqrt", "log", "reciprocal", "pow_1")

    def layers_of(self, program):
        programs = SOURCE / "tests/fixtures/programs"
        shown = self.run_mase(
            "show", programs / f"{program}.script.pt", "--input", programs / "image.npy", "--format", "json"
        )
        return [node["name"] for node in json.loads(shown.stdout)["nodes"] if node["op"] == "call_module"]

    def config(self, name, nodes, between, bits):
        """Inputs below 8, and outputs of nine bits with a fraction of its own for each node; nodes between have none."""
        lines = [
            "[[pass]]",
            'run = "extract"',
            'inputs = ["getitem"]',
            f"outputs = {json.dumps(nodes)}",
            "[[pass]]",
            'run = "fuse_batch_norm"',
            "[[pass]]",
            'run = "quantize"',
            'by = "name"',
        ]
        for number, node in enumerate(nodes):
            lines += [
                f"[pass.{node}.config]",
                'name = "integer"',
                f"data_in_width = {bits}",
                f"data_in_frac_width = {bits - 4}",
                "data_out_width = 9",
                f"data_out_frac_width = {3 + number % 4}",
            ]
            if node in self.OF_UNSIGNED:
                lines.append("data_in_is_signed = false")
            if node.startswith(("conv", "batch_norm")):
                lines += ["weight_width = 6", "weight_frac_width = 4", "bias_width = 7", "bias_frac_width = 5"]
        for node in between:
            lines += [f"[pass.{node}.config]", 'name = "integer"']
            lines += [f"data_in_width = {bits}", f"data_in_frac_width = {bits - 4}"]
        path = self.folder / f"{name}.toml"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    def verify(self, program, nodes, *target, between=(), bits=8, config=None):
        programs = SOURCE / "tests/fixtures/programs"
        name = f"{program}{config.stem if config else bits}" + "".join(target)
        project = ["--project-dir", self.folder, "--project", name]
        made = self.run_mase(
            "transform",
            programs / f"{program}.script.pt",
            "--input",
            programs / "image.npy",
            "--config",
            config or self.config(program, list(nodes), between, bits),
            *project,
            "--json",
            "-q",
        )
        checkpoint = json.loads(made.stdout)["checkpoint"]
        self.run_mase("emit", checkpoint, *target, *project, "-q")
        result = self.run_mase("simulate", checkpoint, "--random", "60", "--stall", "0.4", *project, "--json")
        simulated = json.loads(result.stdout)
        self.assertEqual(simulated["simulation"]["mismatches"], 0)
        return simulated

    def test_activations_and_pooling_are_exact(self):
        layers = self.layers_of("QuantizablePointwiseLayers")
        self.assertGreaterEqual(len(layers), 14)
        self.verify("QuantizablePointwiseLayers", layers, between=("mul",))

    def test_functions_are_exact(self):
        self.verify("QuantizableMoreFunctions", (*self.FUNCTIONS, *self.OF_UNSIGNED))

    def test_functions_of_wide_inputs_come_when_predicted(self):
        for bits in (16, 24):
            simulated = self.verify("QuantizableLayers", ("gelu", "tanh"), bits=bits)
            for cycles in simulated["timing"].values():
                self.assertEqual(cycles["predicted"], cycles["measured"])

    def test_functions_from_blocks_to_blocks_are_exact(self):
        config = self.config("blocks", ["gelu"], (), 8)
        text = config.read_text(encoding="utf-8")
        fields = ("block_size = 16", 'exponent_min = "auto"', 'exponent_max = "auto"')
        blocks = "\n".join(('name = "mxfp8_e4m3"', *fields, *(f"data_out_{field}" for field in fields), ""))
        config.write_text(
            text[: text.index('name = "integer"')] + blocks + "[pass.x.config]\n" + blocks, encoding="utf-8"
        )
        self.verify("QuantizableLayers", ("gelu",), config=config)
        [rtl] = self.folder.glob("QuantizableLayersblocks/hardware/rtl/mase_octave_pieces.sv")
        self.assertTrue(rtl.is_file())

    def test_layers_are_exact(self):
        self.verify("QuantizableLayers", self.LAYERS, "--ii", "200", between=("mul",))


class RandomWidths(Hardware):
    """Widths from 1 to 32 bits, any fraction and sign, both roundings, all multipliers: drawn from a seed."""

    LAYERS = ("module_list_0", "module_list_3", "module_list_6", "module_list_9")

    @staticmethod
    def port(draw, name, fraction):
        width = draw.choice((1, 2, 3, 5, 8, 12, 16, 24, 32))
        return [f"{name}_width = {width}", f"{name}_frac_width = {draw.randint(fraction(width), width + 1)}"]

    def config(self, seed):
        draw = random.Random(seed)
        lines = ["[[pass]]", 'run = "fuse_batch_norm"', "[[pass]]", 'run = "quantize"', 'by = "name"']
        for layer in self.LAYERS:
            lines += [
                f"[pass.{layer}.config]",
                f'name = "{draw.choice(("integer", "integer_floor"))}"',
                *self.port(draw, "data_in", lambda width: -1),
                f"data_in_is_signed = {str(draw.random() < 0.5).lower()}",
                *self.port(draw, "weight", lambda width: max(0, width - 3)),
                *self.port(draw, "bias", lambda width: max(0, width - 3)),
            ]
        path = self.folder / f"widths_{seed}.toml"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    def verify(self, seed, *target):
        project = ["--project-dir", self.folder, "--project", f"widths_{seed}"]
        made = self.run_mase(
            "transform",
            SOURCE / "tests/fixtures/models/jsc_s/jsc_s.script.pt",
            "jsc",
            "--config",
            self.config(seed),
            *project,
            "--json",
            "-q",
        )
        checkpoint = json.loads(made.stdout)["checkpoint"]
        self.run_mase("emit", checkpoint, *target, *project, "-q")
        result = json.loads(
            self.run_mase("simulate", checkpoint, "--random", "60", "--stall", "0.3", *project, "--json").stdout
        )
        self.assertEqual(result["simulation"]["mismatches"], 0)

    def test_folded_in_fabric(self):
        self.verify(1, "--ii", "64", "--multiplier", "fabric")

    def test_folded_with_dsp_blocks(self):
        self.verify(2, "--ii", "256", "--multiplier", "dsp")

    def test_as_the_tool_likes(self):
        self.verify(3, "--ii", "128")


class DeitTiny(Hardware):
    """Twelve blocks of 197 tokens: too much to simulate in a test, not to lower."""

    def test_every_node_of_both_files_has_a_datapath(self):
        for config in ("deit_tiny", "deit_tiny_4bit"):
            self.run_mase("transform", "deit-tiny", "--config", SOURCE / f"configs/hardware/{config}.toml",
                          "--project-dir", self.folder, "--project", config)  # fmt: skip
            checkpoint = self.folder / config / "software/transform/transformed_ckpt/graph_module.pt"
            program = self.run_mase("show", checkpoint, "--format", "program").stdout
            self.assertEqual(program.count("= matmul"), 24, config)  # scores and context of each block
            self.assertRegex(program, r":head s\d+\.\d+ \[1000\] = head linear")


class Designs(unittest.TestCase):
    """The shipped designs, at their slowest: the table's exit code says whether all is equal.

    Icarus must read each of them, and runs the short ones with the bench in SystemVerilog.
    """

    SHORT = 1000  # cycles between frames

    def check_with_icarus(self, hardware):
        design = json.loads((hardware / "design.json").read_text())
        target = "sim-icarus" if design["cycles"]["interval"] <= self.SHORT else "sim/obj_icarus/bench.vvp"
        made = subprocess.run(
            ["make", target, "PLUSARGS=+frames=3 +stall=30"], cwd=hardware, capture_output=True, text=True, check=False
        )
        self.assertEqual(made.returncode, 0, f"{hardware}\n{made.stdout}\n{made.stderr}")
        if target == "sim-icarus":
            beats = 3 * sum(stream["beats"] for stream in design["streams"]["outputs"])
            self.assertIn(f"{beats} beats, 0 mismatches", made.stdout)

    def test_every_shipped_design_is_exact_and_as_fast_as_predicted(self):
        names = [name.removesuffix(".toml") for name in DESIGNS]
        with tempfile.TemporaryDirectory() as folder:
            table = [
                sys.executable,
                "-B",
                SOURCE / "scripts/hardware_table",
                "--mase",
                MASE,
                "--output",
                folder,
                "--quick",
            ]
            result = subprocess.run(
                [*map(str, table), *names], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
            )
            print(result.stdout)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            emitted = list(Path(folder).glob("*/hardware"))
            self.assertEqual(len(emitted), len(names))
            for hardware in emitted:
                self.check_with_icarus(hardware)
        *rows, sums = result.stdout.splitlines()
        self.assertEqual(len(rows), 1 + len(names))
        frames = sum(int(row.split()[2]) for row in rows[1:])
        self.assertRegex(sums, rf"^{len(names)} designs, {frames} frames, [1-9]\d* beats, 0 mismatches$")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mase", type=Path, required=True)
    parser.add_argument("--source", type=Path, required=True)
    options, rest = parser.parse_known_args()
    MASE, SOURCE = options.mase.resolve(), options.source.resolve()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
