#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the program does to files and streams when the machine, another process or a stranger's folder is in its way.

usage: files_test.py --mase BINARY --source ROOT [unittest arguments]
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

MASE = SOURCE = None


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.cwd = Path(folder.name)

    def run_mase(self, *arguments, code=0, variables=None, **options):
        result = subprocess.run(
            [str(MASE), *map(str, arguments)],
            cwd=self.cwd,
            env={**os.environ, "OMP_NUM_THREADS": "1", **(variables or {})},
            stdin=subprocess.DEVNULL,
            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "check": False, **options},
        )
        self.assertEqual(result.returncode, code, f"{arguments}\n{result.stdout}\n{result.stderr}")
        return result


class StandardOutput(InFolder):
    commands = (
        ("show", "jsc-tiny"),
        ("list", "passes", "--json"),
        ("list", "formats"),
        ("doctor",),
        ("doctor", "--json"),
        ("test", "jsc-tiny", "jsc", "--rows", "8", "-q"),
        ("test", "jsc-tiny", "jsc", "--rows", "8", "-q", "--json"),
        ("help", "train"),
        ("train", "--help"),
        ("--version",),
        ("manual",),
        ("completion", "bash"),
    )

    def test_what_a_full_device_does_not_take_is_an_error(self):
        for command in self.commands:
            with open("/dev/full", "w") as full:
                said = self.run_mase(*command, code=3, stdout=full).stderr
            self.assertIn("cannot write to standard output: No space left on device", said, command)

    def test_a_closed_stdout_is_an_error_and_no_file_takes_its_place(self):
        train = ("train", "jsc-tiny", "jsc", "--max-epochs", "1", "--project", "p")
        said = self.run_mase(*train, code=3, stdout=None, preexec_fn=lambda: os.close(1)).stderr
        self.assertIn("cannot write to standard output: Bad file descriptor", said)
        # The training is whole: only what it said about itself is lost.
        self.run_mase("test", "mase_output/p/software/training_ckpts/best.pt", "jsc", "--rows", "8")

    def test_a_command_that_fails_says_why_rather_than_that_it_cannot_print(self):
        with open("/dev/full", "w") as full:
            said = self.run_mase("test", "no-such-model", "jsc", code=2, stdout=full).stderr
        self.assertNotIn("standard output", said)

    def test_a_reader_that_has_gone_ends_the_program_as_it_ends_other_tools(self):
        def into_nobody(code, **options):
            reading, writing = os.pipe()
            os.close(reading)
            try:
                return self.run_mase("manual", code=code, stdout=writing, **options)
            finally:
                os.close(writing)

        into_nobody(-signal.SIGPIPE)
        # Where whoever starts it ignores the signal, the error of the system is left.
        ignoring = into_nobody(
            3, restore_signals=False, preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        )
        self.assertIn("Broken pipe", ignoring.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mase", type=Path, required=True)
    parser.add_argument("--source", type=Path, required=True)
    options, rest = parser.parse_known_args()
    MASE, SOURCE = options.mase.resolve(), options.source.resolve()
    unittest.main(argv=[sys.argv[0], *rest])
