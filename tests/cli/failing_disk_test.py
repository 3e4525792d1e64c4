#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Commands on a disk that fails at one of their writes: a whole former result, a named file, exit code 3, and the same command again.

usage: failing_disk_test.py --mase BINARY --source ROOT --disk LIBRARY [--calls N] [unittest arguments]

LIBRARY is failing_disk.cpp. N (6) of the calls of every command that change files fail, spread over its run; 0: each of them.
"""

import argparse
import errno
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

MASE = SOURCE = DISK = None
CALLS = 6
# What differs between two runs: times, and a database that a search goes on with.
UNLIKE = ("events.out.tfevents", "records/", "study.db", "report.html", "log.json", "trials.csv", "best.json", "/best/")


def contents(folder):
    """Hashes of the files below a folder that two runs write alike, and the names of all others."""
    hashes, others = {}, set()
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        name = str(path.relative_to(folder))
        if any(word in name for word in UNLIKE):
            others.add(name)
        else:
            hashes[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return hashes, others


class FailingDisk(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.cwd = Path(folder.name).resolve()
        self.project = self.cwd / "p"
        self.before = self.cwd / "before"
        self.count = self.cwd / "count"

    def run_mase(self, *arguments, call=None, on=False, error=errno.EIO):
        """Exit code and stderr; with `call`, that one of the calls fails (0: none, they are counted)."""
        variables = {}
        if call is not None:
            self.count.write_bytes(bytes(8))
            variables = {
                "LD_PRELOAD": str(DISK),
                "FAILING_FOLDER": str(self.project),
                "FAILING_COUNT": str(self.count),
                "FAILING_CALL": str(call),
                "FAILING_ERROR": str(error),
                "FAILING_ON": "1" if on else "",
            }
        result = subprocess.run(
            [str(MASE), *map(str, arguments), "-q", "--project-dir", str(self.cwd), "--project", "p"],
            cwd=self.cwd,
            env={**os.environ, "OMP_NUM_THREADS": "1", **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        return result.returncode, result.stderr

    def succeed(self, *arguments):
        code, said = self.run_mase(*arguments)
        self.assertEqual(code, 0, f"{arguments}\n{said}")

    def restore(self):
        shutil.rmtree(self.project, ignore_errors=True)
        shutil.copytree(self.before, self.project, symlinks=True)

    def sweep(self, command, last=None, first=None):
        """Fails at calls of a command that runs on the project as it is now. It replaces the file `last` behind `first`."""
        shutil.copytree(self.project, self.before, symlinks=True)
        old, _ = contents(self.project)
        code, said = self.run_mase(*command, call=0)
        self.assertEqual(code, 0, said)
        calls = int.from_bytes(self.count.read_bytes(), sys.byteorder)
        self.assertGreater(calls, 10)
        new, _ = contents(self.project)
        chosen = range(1, calls + 1)
        if CALLS:
            step = (calls - 1) / (CALLS - 1)
            chosen = sorted({1 + round(i * step) for i in range(CALLS)})
        failed = 0
        for call in chosen:
            error, on = ((errno.EIO, False), (errno.ENOSPC, True))[call % 2]
            self.restore()
            where = f"{command[0]}: call {call} of {calls}, {errno.errorcode[error]}{' and all after it' if on else ''}"
            code, said = self.run_mase(*command, call=call, on=on, error=error)
            if code == 0:
                # What a failing disk cannot spoil: removing the lock, taking away what is left over.
                self.assertEqual(contents(self.project)[0], new, where)
            else:
                failed += 1
                self.assertEqual(code, 3, f"{where}\n{said}")
                self.assertIn(str(self.project), said, where)
                if ".db: " not in said:  # SQLite has words of its own
                    self.assertIn(os.strerror(error), said, where)
            left = contents(self.project)[0]
            if last and left.get(last) != old[last]:
                self.assertNotEqual(left.get(first), old[first], f"{where}: {last} is beside a former {first}")
            for name, found in left.items():
                if name != ".mase.lock" and ".tmp-" not in name:
                    self.assertIn(
                        found, (old.get(name), new.get(name)), f"{where}: {name} is neither the former nor the new one"
                    )
            code, said = self.run_mase(*command)
            self.assertEqual(code, 0, f"{where}, and again:\n{said}")
            self.assertEqual(contents(self.project)[0], new, f"{where}, and again")
        self.assertGreater(failed, len(chosen) // 2)
        print(f"{command[0]}: {len(chosen)} of {calls} calls failed, {failed} of them ended the command")

    def test_train(self):
        # It has one epoch: the best of an earlier one would be a third checkpoint, as whole as the others.
        train = ("train", "jsc-tiny", "jsc", "--max-epochs", "1", "--overwrite")
        self.succeed(*train, "--seed", "1")
        folder = "software/training_ckpts/"
        self.sweep((*train, "--seed", "2"), folder + "config.toml", folder + "last.pt")

    def test_transform(self):
        transform = (
            "transform",
            "jsc-tiny",
            "jsc",
            "--overwrite",
            "--config",
            SOURCE / "configs/hardware/jsc_tiny.toml",
        )
        self.succeed(*transform, "--seed", "1")
        folder = "software/transform/transformed_ckpt/"
        self.sweep((*transform, "--seed", "2"), folder + "config.toml", folder + "graph_module.pt")

    def test_emit(self):
        config = SOURCE / "configs/hardware/jsc_tiny.toml"
        self.succeed("transform", "jsc-tiny", "jsc", "--config", config)
        checkpoint = self.cwd / "quantized.pt"
        shutil.copy(self.project / "software/transform/transformed_ckpt/graph_module.pt", checkpoint)
        self.succeed("emit", checkpoint, "--ii", "16")
        self.sweep(("emit", checkpoint, "--ii", "1"))

    def test_search(self):
        search = ("search", "--config", SOURCE / "configs/search/jsc_three_linear_channels.toml", "--deterministic")
        self.succeed(*search, "--n-trials", "1")
        self.sweep((*search, "--n-trials", "2"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mase", type=Path, required=True)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--disk", type=Path, required=True)
    parser.add_argument("--calls", type=int, default=CALLS)
    options, rest = parser.parse_known_args()
    MASE, SOURCE, DISK = options.mase.resolve(), options.source.resolve(), options.disk.resolve()
    CALLS = options.calls
    unittest.main(argv=[sys.argv[0], *rest])
