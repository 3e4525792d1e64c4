#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Libraries of another build are refused: the program opens none, and a test program does not run with one.

usage: another_build_test.py --mase BINARY --source ROOT --test PROGRAM --compiler CXX
"""

import argparse
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

MASE = SOURCE = TEST = COMPILER = None

# What opens each library; {models}, {fixtures} and {work} are folders. Nobody listens on port 1.
OPENS = {
    "torch": "run {models}/jsc_tiny/jsc_tiny.script.pt --input-shape 4,16 --output {work}/y.npy",
    "protobuf": "show {fixtures}/onnx/quantized/qonnx_mlp.onnx",
    "hdf5": "data hdf5 --data-dir {fixtures}/hdf5/plain.h5",
    "icu": "tokenize {fixtures}/huggingface/bert_classifier Größe",
    "cbc": "transform jsc-tiny --config {work}/mesh.toml --project-dir {work} --project p --overwrite",
    "postgresql": "study list --storage postgresql://127.0.0.1:1/none",
}
NEED_A_DEVICE = {"cuda"}
WITHOUT_A_SERVER = {"postgresql"}


class AnotherBuild(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.work = Path(scratch.name)
        self.libraries = MASE.parent.parent / "lib"
        for name in ("bin", "lib"):
            (self.work / name).mkdir()
        shutil.copy(MASE, self.work / "bin/mase")
        # The program finds libraries beside itself, so this is a whole installation.
        for library in self.libraries.glob("*.so"):
            shutil.copy(library, self.work / "lib")
        (self.work / "mesh.toml").write_text("[passes.autoshard]\nmesh_shape = [1, 2]\ndevice_memory = 4e5\n")

    def run_mase(self, words):
        places = {"models": SOURCE / "tests/fixtures/models", "fixtures": SOURCE / "tests/fixtures", "work": self.work}
        # A program of the build folder has that folder in its run path.
        environment = {**os.environ, "LD_LIBRARY_PATH": str(self.work / "lib"), "OMP_NUM_THREADS": "1"}
        words = [word.format(**places) for word in words.split()]
        return subprocess.run(
            [self.work / "bin/mase", *words], capture_output=True, text=True, env=environment, cwd=self.work
        )

    def check_refused(self, name, ended):
        self.assertEqual(ended.returncode, 3, ended.stderr)
        library = self.work / f"lib/libmase_{name}.so"
        self.assertRegex(ended.stderr, f"{re.escape(str(library))} is of another build than .*/lib/libmase_\\w+\\.so; ")
        self.assertIn("scripts/build", ended.stderr)
        self.assertFalse((self.work / "y.npy").exists())

    def test_every_library_that_is_opened(self):
        """Copies differ from the build in the hash of their headers."""
        opened = {
            library.name[len("libmase_") : -len(".so")]
            for library in self.libraries.glob("libmase_*.so")
            if b"mase_interface_" + library.name[len("libmase_") : -len(".so")].encode() in library.read_bytes()
        }
        self.assertEqual(opened - NEED_A_DEVICE, set(OPENS))
        for name, words in OPENS.items():
            with self.subTest(name):
                ended = self.run_mase(words)
                self.assertNotIn("another build", ended.stderr)
                self.assertEqual(ended.returncode == 0, name not in WITHOUT_A_SERVER, ended.stderr)
                (self.work / "y.npy").unlink(missing_ok=True)
                library = self.work / f"lib/libmase_{name}.so"
                self.change_hash(library, name)
                self.check_refused(name, self.run_mase(words))
                shutil.copy(self.libraries / library.name, library)

    def change_hash(self, file, name):
        contents, count = re.subn(
            rb"\0(%b )[0-9a-f]{64}\0" % name.encode(), rb"\0\g<1>" + b"0" * 64 + b"\0", file.read_bytes()
        )
        self.assertGreaterEqual(count, 1, file)
        file.write_bytes(contents)

    def test_libraries_from_before(self):
        """One without a hash, and one that calls what is gone, which the loader refuses."""
        for code in ('extern "C" void mase_backend() { __builtin_trap(); }', "void gone(); void (*call)() = gone;"):
            with self.subTest(code):
                part = self.work / "lib/libmase_torch.so"
                part.unlink()
                (self.work / "old.cpp").write_text(code)
                subprocess.run([COMPILER, "-shared", "-fPIC", self.work / "old.cpp", "-o", part], check=True)
                self.check_refused("torch", self.run_mase(OPENS["torch"]))

    def test_a_program_that_was_built_without_libtorch(self):
        opener = self.work / "lib/libmase_backend.so"
        opener.write_bytes(opener.read_bytes().replace(b"mase_expected_torch", b"mase_expected_other"))
        ended = self.run_mase(OPENS["torch"])
        self.assertEqual(ended.returncode, 3, ended.stderr)
        self.assertIn("this program was built without the LibTorch part; install LibTorch and rebuild", ended.stderr)

    def test_test_programs(self):
        program = self.work / "bin/test"
        shutil.copy(TEST, program)
        name = TEST.name[len("test_") :]
        self.assertEqual(subprocess.run([program], capture_output=True).returncode, 0)
        self.change_hash(program, name)
        ended = subprocess.run([program], capture_output=True, text=True)
        self.assertEqual(ended.returncode, 3, ended.stderr)
        self.assertIn(f"test is of another build than libmase_{name}.so", ended.stderr)
        self.assertEqual(ended.stdout, "")


class Hashes(unittest.TestCase):
    def test_headers_alone_change_them(self):
        with tempfile.TemporaryDirectory() as scratch:
            lib, out = Path(scratch) / "lib", Path(scratch) / "out.cpp"
            for room in ("base", "solver", "data"):
                (lib / room / "inner").mkdir(parents=True)
                (lib / room / "inner/one.hpp").write_text("int one();")
            words = ["-D", f"LIB={lib}", "-D", "ROOMS=base;solver", "-D", "NAME=cbc", "-D", "SYMBOL=symbol"]

            def text():
                script = SOURCE / "lib/interface.cmake"
                subprocess.run(["cmake", *words, "-D", f"OUT={out}", "-P", script], check=True)
                return out.read_text()

            first = text()
            self.assertRegex(first, r'const char symbol\[\] = "cbc [0-9a-f]{64}"')
            os.utime(out, (1, 1))
            (lib / "base/one.cpp").write_text("int one() { return 1; }")
            (lib / "data/inner/one.hpp").write_text("long one();")
            self.assertEqual(text(), first)
            self.assertEqual(out.stat().st_mtime, 1, "an equal text must not be written again")
            (lib / "solver/inner/one.hpp").write_text("long one();")
            changed = text()
            self.assertNotEqual(changed, first)
            (lib / "base/inner/one.hpp").rename(lib / "base/inner/two.hpp")
            self.assertNotIn(text(), (first, changed))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("--mase", "--source", "--test"):
        parser.add_argument(option, type=lambda path: Path(path).resolve(), required=True)
    parser.add_argument("--compiler", required=True)
    arguments = parser.parse_args()
    MASE, SOURCE, TEST, COMPILER = arguments.mase, arguments.source, arguments.test, arguments.compiler
    unittest.main(argv=[__file__])
