#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What benchmarks keep of their figures, how tests are run, and the table of their processor seconds."""

import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Scripts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()

    def run_here(self, *words):
        return subprocess.run([*map(str, words)], cwd=self.folder, capture_output=True, text=True, check=False)


class Figures(Scripts):
    def keep(self, command):
        script = 'set -o pipefail; source "$0"; keep_figures history.txt "Title" bash -c "$1"'
        return self.run_here("bash", "-c", script, ROOT / "scripts/bench/keep.sh", command)

    def test_the_history_has_what_a_benchmark_prints(self):
        self.assertEqual(self.keep("echo 1.5 ms").returncode, 0)
        self.assertEqual((self.folder / "history.txt").read_text(), "\n=== Title\n1.5 ms\n")

    def test_of_a_crash_the_history_has_the_status_and_no_path_of_the_machine(self):
        crash = self.keep('echo 2 ms; echo "$PWD/lib/a.cpp:3: FAILED"; echo "File $PWD/b.py, line 1" >&2; exit 134')
        self.assertEqual(crash.returncode, 134)
        self.assertIn("b.py, line 1", crash.stderr)
        kept = (self.folder / "history.txt").read_text()
        self.assertEqual(kept, "\n=== Title\n2 ms\nlib/a.cpp:3: FAILED\nended with status 134\n")


class Times(Scripts):
    """A copy of the two scripts and of what they need, whose build folder is empty."""

    def setUp(self):
        super().setUp()
        for name in ("scripts/lib.sh", "scripts/test_times", "tests/run_test"):
            (self.folder / name).parent.mkdir(exist_ok=True)
            (self.folder / name).symlink_to(ROOT / name)

    def run_test(self, name, command):
        build = self.folder / "build/release"
        return self.run_here("tests/run_test", build, name, "bash", "-c", command)

    def test_what_a_test_prints_and_its_status_are_unchanged(self):
        ran = self.run_test("one", "echo out; echo err >&2; exit 77")
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (77, "out\n", "err\n"))

    def test_seconds_of_programs_that_a_test_runs_are_counted(self):
        self.run_test("idle", "true")
        self.run_test("busy", "bash -c 'for ((i = 0; i < 800000; ++i)); do :; done'; exit 1")
        rows = [line.split() for line in self.run_here("scripts/test_times").stdout.splitlines()[1:]]
        self.assertEqual([row[-1] for row in rows[:2]], ["busy", "idle"])
        self.assertGreater(float(rows[0][0]), float(rows[1][0]))
        self.assertEqual(rows[2][1:], ["all", "2", "tests"])

    def test_a_build_whose_tests_never_ran_is_named(self):
        ran = self.run_here("scripts/test_times", "dev")
        self.assertEqual(ran.returncode, 1)
        self.assertIn("ctest --preset dev", ran.stderr)

    def test_a_test_has_a_cache_of_its_build_and_shares_compiled_objects(self):
        told = self.run_test("cache", 'echo "$XDG_CACHE_HOME|${CCACHE_DIR:-}"').stdout.strip().split("|")
        self.assertEqual(told[0], str(self.folder / "build/release/tests/cache"))
        self.assertNotIn(str(self.folder), told[1])


if __name__ == "__main__":
    unittest.main(verbosity=2)
