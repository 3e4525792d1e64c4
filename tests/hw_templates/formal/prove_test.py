#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What prove.py believes without proving: outcomes of the very same proof, and nothing else."""

import os
import tempfile
import unittest
from unittest import mock

import prove

SOURCES = {"a_proof.sv": "module a_proof; mase_b b (); endmodule"}
PROOF = ("pdr", "a_proof", {"W": 2}, SOURCES)


class Outcomes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tools, self.outcome, self.proved = ["Yosys 1"], True, 0
        for patch in (
            mock.patch.dict(os.environ, XDG_CACHE_HOME=folder.name),
            mock.patch.object(prove, "tools", lambda: self.tools),
            mock.patch.object(prove, "prove", self.prove),
        ):
            patch.start()
            self.addCleanup(patch.stop)

    def prove(self, *_):
        self.proved += 1
        return self.outcome, "log"

    def known(self, *proof, again=False):
        return prove.Outcomes(again).prove(*proof)[2]

    def test_the_same_proof_is_not_made_twice(self):
        for self.outcome, width in ((True, 3), (False, 4)):
            proof = ("pdr", "a_proof", {"W": width}, SOURCES)
            self.assertFalse(self.known(*proof))
            self.assertEqual(prove.Outcomes(False).prove(*proof), (self.outcome, "", True))
        self.assertEqual(self.proved, 2)
        self.assertFalse(self.known(*proof, again=True))

    def test_another_source_parameter_engine_or_tool_is_proved(self):
        self.assertFalse(self.known(*PROOF))
        self.assertTrue(self.known(*PROOF))
        changed = {"a_proof.sv": SOURCES["a_proof.sv"] + " "}
        self.assertFalse(self.known("pdr", "a_proof", {"W": 2}, changed))
        self.assertFalse(self.known("pdr", "a_proof", {"W": 1}, SOURCES))
        self.assertFalse(self.known("z3", "a_proof", {"W": 2}, SOURCES))
        self.tools = ["Yosys 2"]
        self.assertFalse(self.known(*PROOF))

    def test_what_was_undecided_is_tried_again(self):
        self.outcome = None
        self.assertFalse(self.known(*PROOF))
        self.assertFalse(self.known(*PROOF))

    def test_sources_are_what_the_harness_names_broken_where_asked(self):
        texts = {
            "a_proof": "module a_proof;\n  mase_b b ();\n",
            "mase_b": "module mase_b;\n  BLOCK c ();\n  assign x = y;\n",
            "block": "// Of another maker.\nmodule BLOCK;\n",
            "mase_d": "module mase_d;\n",
        }
        self.assertEqual(sorted(prove.sources_of("a_proof", None, texts)), ["a_proof.sv", "block.sv", "mase_b.sv"])
        broken = prove.sources_of("a_proof", ("mase_b", "= y", "= !y"), texts)
        self.assertEqual(broken["mase_b.sv"], texts["mase_b"].replace("= y", "= !y"))
        with self.assertRaises(AssertionError):
            prove.sources_of("a_proof", ("mase_d", "", ""), texts)


if __name__ == "__main__":
    unittest.main(verbosity=2)
