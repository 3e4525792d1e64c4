#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The example of docs/adding/custom_op.md with statements that do not hold, and what is refused.

usage: custom_op_test.py --mase BINARY --source ROOT [unittest arguments]
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
HEREDOC = re.compile(r"^cat > ([\w.]+) <<'?EOF'?\n(.*?)^EOF$", re.MULTILINE | re.DOTALL)


def example():
    """The files that the page writes, by name."""
    page = (SOURCE / "docs/adding/custom_op.md").read_text(encoding="utf-8")
    files = dict(HEREDOC.findall(page))
    table = [min(127, round(code * code / 32)) for code in (*range(128), *range(-128, 0))]
    files["energy.toml"] = re.sub(r"\$\(.*\)", str(table), files["energy.toml"])
    return files


class Example(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.cwd = Path(folder.name) / "work"
        self.cwd.mkdir()
        self.files = example()
        for name, text in self.files.items():
            self.write(name, text)
        self.model = SOURCE / "tests/fixtures/programs/Custom.pt"

    def write(self, name, text):
        (self.cwd / name).write_text(text, encoding="utf-8")

    def run_mase(self, *words, code=0):
        result = subprocess.run(
            [str(MASE), *map(str, words)],
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            cwd=self.cwd,
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        self.assertEqual(result.returncode, code, f"{words}\n{result.stdout}\n{result.stderr}")
        return result

    def changed(self, old, new, count=1):
        text = self.files["energy.toml"]
        self.assertIn(old, text)
        self.write("energy.toml", text.replace(old, new, count))

    def transform(self, model=None, project="p", code=0):
        result = self.run_mase(
            *("transform", model or self.model, "--config", "energy.toml", "--input-shape", "2,3,4"),
            *("--project", project, "--json", "--overwrite"),
            code=code,
        )
        return json.loads(result.stdout)["checkpoint"] if code == 0 else result.stderr

    def simulate(self, checkpoint, *words, code=0):
        """The user's own op: the configuration has it."""
        given = words or ("--config", "energy.toml")
        return self.run_mase("simulate", checkpoint, *given, "--project", "p", "-q", code=code)


class Statements(Example):
    def test_a_latency_that_does_not_hold(self):
        self.changed("latency = 3", "latency = 4")
        result = self.run_mase("emit", self.transform(), "--project", "p", "-q")
        self.assertIn("latency 25 cycles", result.stdout)
        failed = self.simulate(self.transform(), code=1)
        self.assertRegex(failed.stdout, r"first output\s*\|\s*25\s*\|\s*24")

    def test_an_interval_that_does_not_hold(self):
        self.changed("lanes = 8", "lanes = 1\ninterval = 7")
        checkpoint = self.transform()
        self.run_mase("emit", checkpoint, "--project", "p", "-q")
        failed = self.simulate(checkpoint, code=1)
        # 3 rows of 8 elements, one at a time; the first layer has 3 * 4 * 8 products.
        self.assertRegex(failed.stdout, r"interval\s*\|\s*168\s*\|\s*96")

    def test_a_table_that_does_not_hold(self):
        self.changed("table = [0, 0", "table = [0, 1")
        checkpoint = self.transform()
        self.run_mase("emit", checkpoint, "--project", "p", "-q")
        failed = self.simulate(checkpoint, code=1)
        self.assertRegex(failed.stdout, r"frame \d+, stream head, beat \d+, element \d+: expected")

    def test_the_graph_says_whose_module_it_is(self):
        checkpoint = self.transform()
        self.run_mase("emit", checkpoint, "--project", "p", "-q")
        hardware = self.cwd / "mase_output/p/hardware"
        self.assertEqual((hardware / "rtl/energy.sv").read_text(encoding="utf-8"), self.files["energy.sv"])
        self.assertIn("rtl/energy.sv\n", (hardware / "filelist.f").read_text(encoding="utf-8"))
        design = json.loads((hardware / "design.json").read_text(encoding="utf-8"))
        (energy,) = [entry for entry in design["instances"] if entry["module"] == "energy"]
        lanes = energy["parameters"]["LANES"]
        self.assertEqual((energy["cost"]["lut"], energy["cost"]["dsp"]), (17 * lanes, lanes))


class Checkpoints(Example):
    def test_a_checkpoint_needs_no_other_file_and_may_get_other_hardware(self):
        checkpoint = self.transform()
        for name in ("energy.sv", "energy.toml"):
            (self.cwd / name).rename(self.cwd / f"kept_{name}")
        result = self.run_mase("emit", checkpoint, "--project", "p", "-q")
        self.assertIn("latency 24 cycles", result.stdout)
        self.write("energy.sv", self.files["energy.sv"])
        text = self.files["energy.toml"]
        table = text[: text.index("[passes")]
        self.write("other.toml", table.replace("latency = 3", "latency = 9"))
        for command in ("emit", "simulate"):
            refused = self.run_mase(command, checkpoint, "--config", "other.toml", "--project", "p", code=2)
            self.assertIn("describes this op differently", refused.stderr)
        self.write("energy.toml", (self.cwd / "other.toml").read_text(encoding="utf-8") + "[passes.report_graph]\n")
        again = self.transform(checkpoint, "q")
        result = self.run_mase("emit", again, "--config", "energy.toml", "--project", "q", "-q")
        self.assertIn("latency 30 cycles", result.stdout)
        self.write("energy.toml", table.replace('"2 * outputs"', "4") + "[passes.report_graph]\n")
        refused = self.transform(checkpoint, "r", code=2)
        self.assertIn("energy.toml:1:13: error: custom_ops.energy: the graph of", refused)

    def test_a_resolved_configuration_holds_the_files(self):
        self.transform()
        (resolved,) = (self.cwd / "mase_output/p").rglob("config.toml")
        (self.cwd / "energy.sv").unlink()
        self.write("energy.toml", resolved.read_text(encoding="utf-8"))
        self.run_mase("emit", self.transform(), "--project", "q", "-q")

    def test_a_configuration_made_for_the_model_describes_the_op(self):
        options = ("--input-shape", "2,3,4", "--custom-ops", "energy.toml")
        self.run_mase("init", self.model, *options, "-o", "made.toml")
        (self.cwd / "energy.sv").unlink()
        made = (self.cwd / "made.toml").read_text(encoding="utf-8")
        self.assertIn("[pass.energy.config]", made)
        self.write("energy.toml", made)
        self.run_mase("emit", self.transform(), "--project", "q", "-q")

    def test_an_op_is_shown_without_a_configuration(self):
        shown = self.run_mase("show", self.model, "--input-shape", "2,3,4", "--custom-ops", "energy.toml").stdout
        self.assertIn("call_module energy mase::leaf.energy(x=%fc)", shown)
        self.write("none.toml", "model = 'x'\n")
        refused = self.run_mase("show", self.model, "--input-shape", "2,3,4", "--custom-ops", "none.toml", code=2)
        self.assertIn("none.toml: has no table [custom_ops.NAME]", refused.stderr)


class Strangers(Example):
    """SystemVerilog that came with a checkpoint."""

    HOSTILE = 'initial $system("touch ran");\n  logic [1:0] valid;'

    def setUp(self):
        super().setUp()
        self.write("energy.sv", self.files["energy.sv"].replace("logic [1:0] valid;", self.HOSTILE))
        self.checkpoint = self.transform()
        self.write("energy.sv", self.files["energy.sv"])

    def test_it_is_said_where_it_is_written_and_shown(self):
        said = "contains SystemVerilog files: energy.sv of the op 'energy'; read them"
        self.assertIn(said, self.run_mase("emit", self.checkpoint, "--project", "p", "-q").stderr)
        self.assertIn(said, self.run_mase("show", self.checkpoint).stderr)
        document = json.loads(self.run_mase("emit", self.checkpoint, "--project", "p", "--json").stdout)
        self.assertEqual(document["external"], ["energy.sv of the op 'energy'"])
        own = self.run_mase("emit", self.transform(), "--config", "energy.toml", "--project", "q", "-q")
        self.assertNotIn("brings", own.stderr)

    def test_no_tool_reads_it_unasked(self):
        self.run_mase("emit", self.checkpoint, "--project", "p", "-q")
        for command in (
            ("simulate", self.checkpoint),
            ("simulate", self.checkpoint, "--mutate-rtl", "1"),
            ("simulate", self.checkpoint, "--reload"),
            ("test", self.checkpoint, "jsc", "--level", "integer,rtl"),
            ("emit", self.checkpoint, "--synth"),
            ("emit", self.checkpoint, "--place"),
            ("emit", self.checkpoint, "--vivado"),
        ):
            with self.subTest(command[0], options=command[2:]):
                refused = self.run_mase(*command, "--project", "p", "-q", code=2)
                self.assertIn("contains SystemVerilog files (energy.sv of the op 'energy')", refused.stderr)
                self.assertIn("--allow-external", refused.stderr)
        self.assertFalse(list(self.cwd.rglob("ran")))

    def test_a_configuration_with_another_text_does_not_vouch_for_it(self):
        self.run_mase("emit", self.checkpoint, "--project", "p", "-q")
        refused = self.simulate(self.checkpoint, "--config", "energy.toml", code=2)
        self.assertIn("describes this op differently", refused.stderr)

    def test_it_runs_when_it_is_asked_for(self):
        self.run_mase("emit", self.checkpoint, "--project", "p", "-q")
        self.simulate(self.checkpoint, "--allow-external")
        self.assertTrue(list(self.cwd.rglob("ran")), "the attack of the other tests is none")


class Refusals(Example):
    def test_what_the_table_says_wrong_is_named_with_its_place(self):
        (self.cwd / "folder").mkdir()
        (self.cwd.parent / "outside.sv").touch()
        (self.cwd / "link.sv").symlink_to(self.cwd.parent / "outside.sv")
        for old, new, said in (
            ('["energy.sv"]', '["../energy.sv"]', "energy.toml:8:10: error: custom_ops: '../energy.sv' must be in"),
            ('["energy.sv"]', '["/etc/passwd"]', "'/etc/passwd' must be in the folder"),
            ('["energy.sv"]', '["link.sv"]', "'link.sv' must be in the folder"),
            ('["energy.sv"]', '["folder"]', "no file 'folder'"),
            ('["energy.sv"]', '["enrgy.sv"]', "no file 'enrgy.sv'"),
            ('weight = "weight"', 'wieght = "weight"', "'energy' has no tensor 'wieght'; did you mean 'weight'?"),
            (
                'inputs = ["data_in"]',
                'inputs = ["data_im"]',
                "energy.toml:3:11: error: custom_ops.energy: unknown port",
            ),
            ("make_programs.Energy", "make_programs.Enregy", "did you mean 'make_programs.Energy'?"),
            ("latency = 3", "latency = 0", "latency"),
            ("latency = 3", "latncy = 3", "did you mean 'latency'?"),
            ('LANES = "lanes"', 'LANES = "lane"', "did you mean 'lanes'?"),
            ("[passes.quantize.energy", "[passes.quantize.enrgy", "unknown option 'enrgy'; did you mean 'energy'?"),
            ("[custom_ops.energy]", "[custom_op.energy]", "did you mean 'custom_ops'?"),
        ):
            with self.subTest(new):
                self.changed(old, new)
                self.assertIn(said, self.transform(code=2))

    def test_what_has_no_datapath_says_what_is_missing(self):
        for old, new, said in (
            ("\ndata_out_width = 8\ndata_out_frac_width = 4", "", "[passes.quantize.energy.config] with name"),
            ("\ndata_out_width = 8", "\ndata_out_width = 7", "which data_out with 7 signed bits does not hold"),
        ):
            with self.subTest(said):
                self.changed(old, new)
                checkpoint = self.transform()
                self.assertIn(said, self.run_mase("emit", checkpoint, "--project", "p", code=4).stderr)
        text = self.files["energy.toml"]
        cut = text[: text.index("[custom_ops.energy.hardware]")] + text[text.index("[passes.quantize.default") :]
        self.write("energy.toml", cut)
        refused = self.run_mase("emit", self.transform(), "--project", "p", code=4).stderr
        self.assertIn("add [custom_ops.energy.hardware] to the configuration", refused)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mase", type=Path, required=True)
    parser.add_argument("--source", type=Path, required=True)
    options, rest = parser.parse_known_args()
    MASE, SOURCE = options.mase.resolve(), options.source.resolve()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
