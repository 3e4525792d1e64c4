#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models that would do harm: what docs/security.md promises of them.

The files below tests/fixtures/attacks are TorchScript whose forward calls an operator that no model needs: save.pt writes a
file named written_by_the_model, out_of_bounds.pt makes LibTorch write behind a tensor.

usage: sandbox_models_test.py --mase BINARY --source ROOT [unittest arguments]
"""

import argparse
import subprocess
import sys
import time
import unittest
from pathlib import Path

import files_test
from files_test import InFolder


def attack(name):
    return files_test.SOURCE / "tests/fixtures/attacks" / name


class Models(InFolder):
    def setUp(self):
        super().setUp()
        doctor = subprocess.run([files_test.MASE, "doctor"], capture_output=True, text=True, check=True).stdout
        self.sandboxed = "[ok] sandbox" in doctor

    def show(self, name, *options, **expected):
        return self.run_mase("show", attack(name), "--input-shape", "1,4", *options, **expected)

    def test_what_writes_is_refused_whatever_the_user_allows(self):
        for options in ((), ("--allow-op", "aten::save"), ("--sandbox", "off")):
            said = self.show("save.pt", *options, code=4).stderr
            self.assertIn("aten::save", said)
            self.assertEqual(list(self.cwd.iterdir()), [])

    def test_a_crash_is_exit_code_3_and_names_the_operator(self):
        name = "aten::_convert_indices_from_csr_to_coo"
        said = self.show("out_of_bounds.pt", "--allow-op", name, code=3).stderr
        self.assertIn(name, said)

    def test_require_fails_where_something_is_missing_and_not_else(self):
        self.show("save.pt", "--sandbox", "require", code=4 if self.sandboxed else 3)

    def test_results_leave_by_the_names_that_were_given(self):
        model = files_test.SOURCE / "tests/fixtures/models/jsc_s/jsc_s.script.pt"
        self.run_mase("run", model, "--input-shape", "2,16", "--output", "y.npy", "--sandbox", "auto")
        self.run_mase("init", model, "--input-shape", "2,16", "-o", "deep/model.toml")
        self.run_mase("export", model, "--input-shape", "2,16", "tensors")
        self.assertEqual(sorted(path.name for path in self.cwd.iterdir()), ["deep", "tensors", "y.npy"])

    def test_a_command_that_fails_leaves_no_project(self):
        self.run_mase(
            "train", attack("save.pt"), "jsc", "--project-dir", "new", "--project", "p", "--max-epochs", "1", code=4
        )
        # The process that keeps the rights removes the empty folders after the command has ended.
        for _ in range(400):
            if not list(self.cwd.iterdir()):
                return
            time.sleep(0.05)
        self.fail(f"left: {list(self.cwd.rglob('*'))}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mase", required=True, type=Path)
    parser.add_argument("--source", required=True, type=Path)
    options, rest = parser.parse_known_args()
    files_test.MASE, files_test.SOURCE = options.mase.resolve(), options.source.resolve()
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
