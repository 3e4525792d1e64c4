#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What benchmarks keep of their figures and what pages show of it, how tests are run, the table of their processor
seconds, and folders of transformers that are made."""

import csv
import json
import os
import re
import struct
import subprocess
import sys
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
        script = 'set -o pipefail; source "$0"; keep_figures history.txt ours "Title" bash -c "$1"'
        return self.run_here("bash", "-c", script, ROOT / "scripts/bench/keep.sh", command)

    def test_the_history_has_what_a_benchmark_prints(self):
        self.assertEqual(self.keep("echo 1.5 ms").returncode, 0)
        self.assertEqual((self.folder / "history.txt").read_text(), "\n=== ours: Title\n1.5 ms\n")

    def test_of_a_crash_the_history_has_the_status_and_no_path_of_the_machine(self):
        crash = self.keep('echo 2 ms; echo "$PWD/lib/a.cpp:3: FAILED"; echo "File $PWD/b.py, line 1" >&2; exit 134')
        self.assertEqual(crash.returncode, 134)
        self.assertIn("b.py, line 1", crash.stderr)
        kept = (self.folder / "history.txt").read_text()
        self.assertEqual(kept, "\n=== ours: Title\n2 ms\nlib/a.cpp:3: FAILED\nended with status 134\n")

    def test_the_processors_of_the_machine_are_counted_whatever_threads_a_benchmark_may_have(self):
        keep = ROOT / "scripts/bench/keep.sh"
        told = [
            self.run_here("env", *threads, "bash", "-c", 'source "$0"; machine_kind', keep).stdout
            for threads in (["-u", "OMP_NUM_THREADS"], ["OMP_NUM_THREADS=1"], ["OMP_NUM_THREADS=77"])
        ]
        self.assertRegex(told[0], r"^\w+( with avx(2|512))?, [1-9]\d* processors\n$")
        self.assertEqual(set(told), {told[0]})


def history_of(date, *networks):
    lines = [
        f"{name}  torch.compile 10.0 steps/s, mase 20.0 steps/s, ratio {ratio} (goal 5)" for name, ratio in networks
    ]
    eager = "toy      float            eager PyTorch   10.0 steps/s, mase     20.0 steps/s, ratio   2.00"
    return "\n".join(["", f"##### mase 1, {date}", "", "=== training: Title", *lines, eager, ""])


class HuggingFaceFolder(Scripts):
    SIZES = ("--rows", "300", "--layers", "1", "--width", "8", "--positions", "16")

    def make(self, name, *words):
        return self.run_here(sys.executable, ROOT / "scripts/make_huggingface_folder", name, *words)

    def made(self, name, *words):
        done = self.make(name, *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return {path.name: path.read_bytes() for path in sorted((self.folder / name).iterdir())}

    def test_the_labels_of_reviews_are_what_a_reader_would_say(self):
        self.made("model", "--make-texts", "reviews.csv", *self.SIZES)
        bad = {"bad", "awful", "boring", "clumsy", "dull", "hollow", "stale", "weak"}
        with (self.folder / "reviews.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 300)
        self.assertEqual({row["label"] for row in rows}, {"0", "1"})
        for row in rows:
            said = re.findall(r"\w+", re.split(r" but | and ", row["text"].lower())[-1])
            praised = said[-1] not in bad
            self.assertEqual(row["label"], str(int(praised != bool({"not", "never"} & set(said)))), row["text"])

    def test_a_seed_decides_about_every_byte(self):
        first = self.made("first", "--make-texts", "first.csv", *self.SIZES)
        again = self.made("again", "--make-texts", "again.csv", *self.SIZES)
        other = self.made("other", "--make-texts", "other.csv", *self.SIZES, "--seed", "1")
        self.assertEqual(first, again)
        self.assertNotEqual(first["model.safetensors"], other["model.safetensors"])
        texts = [(self.folder / f"{name}.csv").read_bytes() for name in ("first", "again", "other")]
        self.assertEqual(texts[0], texts[1])
        self.assertNotEqual(texts[0], texts[2])

    def test_the_weights_are_behind_each_other_and_fill_the_file(self):
        data = self.made("model", "--make-texts", "reviews.csv", *self.SIZES)["model.safetensors"]
        (length,) = struct.unpack("<Q", data[:8])
        header = json.loads(data[8 : 8 + length])
        self.assertEqual(header.pop("__metadata__"), {"format": "pt"})
        end = 0
        for tensor in header.values():
            count = 4
            for size in tensor["shape"]:
                count *= size
            self.assertEqual(tensor["data_offsets"], [end, end + count])
            end += count
        self.assertEqual(len(data), 8 + length + end)
        # 3 embeddings, norm; query, key, value, output, norm; two linear layers, norm; pooler, classifier
        self.assertEqual(len(header), 3 + 2 + 4 * 2 + 2 + 2 * 2 + 2 + 2 + 2)

    def test_words_of_own_texts_become_tokens_and_labels_become_classes(self):
        (self.folder / "own.csv").write_text(
            "text,label\nA zebra!,wild\nA caf\u00e9.,tame\nA zebra.,wild\n", encoding="utf-8"
        )
        files = self.made("model", "--texts", "own.csv", "--vocabulary", "40", *self.SIZES)
        tokens = json.loads(files["tokenizer.json"])["model"]["vocab"]
        self.assertEqual(list(tokens.values()), list(range(40)))
        self.assertLess(tokens["zebra"], tokens["cafe"])  # it is the more frequent one
        self.assertEqual(json.loads(files["config.json"])["id2label"], {"0": "tame", "1": "wild"})

    def test_what_cannot_be_made_is_refused(self):
        (self.folder / "own.csv").write_text("words,label\na,0\n")
        for words, reason in (
            (["--texts", "own.csv"], "own.csv has no column 'text'"),
            (["--texts", "none.csv"], "none.csv"),
            (["--make-texts", "made.csv", "--heads", "3"], "--heads 3 does not divide --width 128"),
            (["--make-texts", "made.csv", "--vocabulary", "20"], "--vocabulary 20 is too small"),
            ([], "--make-texts"),
        ):
            done = self.make("model", *words)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(reason, done.stderr)
            self.assertFalse((self.folder / "model").exists())
        (self.folder / "model").mkdir()
        self.assertIn("model exists", self.make("model", "--texts", "own.csv").stderr)


class BenchmarkPage(Scripts):
    """docs/benchmarks.md and the short table of README.md, from a history of our own."""

    def setUp(self):
        super().setUp()
        for name in ("scripts/bench", "docs"):
            (self.folder / name).mkdir(parents=True)
        self.history = self.folder / "scripts/bench/history.txt"
        self.readme = self.folder / "README.md"
        self.history.write_text(history_of("2026-01-01", ("lenet", "4.00"), ("toy", "3.00")))
        self.readme.write_text("Ours\n<!-- benchmarks -->\nold\n<!-- end of benchmarks -->\nend\n")

    def page(self, *words):
        return self.run_here(ROOT / "scripts/bench/page", "--root", self.folder, *words)

    def test_the_page_has_the_last_run_and_its_command(self):
        with self.history.open("a") as history:
            history.write(history_of("2026-02-02", ("lenet", "6.00"), ("toy", "8.00"), ("jsc", "7.50")))
        self.assertEqual(self.page().returncode, 0)
        text = (self.folder / "docs/benchmarks.md").read_text()
        self.assertIn("`scripts/bench/run training`; last run: mase 1, 2026-02-02.", text)
        self.assertIn("\n| lenet | 6.00 x |\n", text)
        self.assertNotIn("4.00", text)
        self.assertIn("6.00 x to 8.00 x, median 7.50 x, 3 networks", self.readme.read_text())
        self.assertRegex(self.readme.read_text(), r"\AOurs\n(?s:.*)\nend\n\Z")

    def test_a_figure_that_was_changed_by_hand_is_found(self):
        self.page()
        self.assertEqual(self.page("--check").returncode, 0)
        self.readme.write_text(self.readme.read_text().replace("4.00 x", "5.00 x"))
        found = self.page("--check")
        self.assertEqual((found.returncode, found.stdout.split()[0]), (1, "README.md"))

    def test_a_benchmark_that_printed_no_figures_is_named(self):
        with self.history.open("a") as history:
            history.write("\n=== training: Title\nended with status 1\n")
        found = self.page()
        self.assertNotEqual(found.returncode, 0)
        self.assertIn("the last run of training", found.stderr)

    def test_the_page_of_the_repository_is_what_its_history_gives(self):
        found = self.run_here(ROOT / "scripts/bench/page", "--check")
        self.assertEqual((found.returncode, found.stdout), (0, ""))


class Benchmarks(Scripts):
    text = (ROOT / "scripts/bench/run").read_text()

    def test_every_name_is_one_benchmark_and_the_page_shows_benchmarks_that_there_are(self):
        names = re.search(r"^names=\((.*)\)$", self.text, re.MULTILINE)[1].split()
        self.assertCountEqual(re.findall(r"^ *figures (\w+) ", self.text, re.MULTILINE), names)
        shown = re.findall(r'^    "(\w+)": \(', (ROOT / "scripts/bench/page").read_text(), re.MULTILINE)
        self.assertTrue(shown)
        self.assertLessEqual(set(shown), set(names))

    def test_unknown_names_and_rounds_are_refused_before_anything_is_built(self):
        for words in (["lenet"], ["--rounds", "none"], ["--rounds"]):
            refused = self.run_here(ROOT / "scripts/bench/run", *words)
            self.assertEqual((refused.returncode, refused.stdout), (1, ""))
            self.assertIn("run: error: ", refused.stderr)

    def test_modules_of_the_cost_benchmark_exist_with_all_that_they_instantiate(self):
        sources = {path.stem: path.read_text() for path in (ROOT / "hw_templates").glob("*/*.sv")}
        (module,) = re.findall(r"bench_module_cost (mase_\w+)", self.text)
        code = "import sys; sys.path[0] = sys.argv[1]; import calibrate; print(*calibrate.module_files(sys.argv[2]))"
        told = self.run_here(sys.executable, "-B", "-c", code, ROOT / "scripts/bench", module).stdout.split()
        files = {Path(file).stem for file in told}
        self.assertIn(module, files)
        for name in files:
            used = re.findall(r"^\s*(mase_\w+) (?:#\(|\w+ ?\()", sources[name], re.MULTILINE)
            self.assertLessEqual(set(used), files, name)


class Check(Scripts):
    """scripts/check with all that it calls replaced by programs that only say so."""

    def setUp(self):
        super().setUp()
        (self.folder / "scripts").mkdir()
        for name in ("check", "lib.sh"):
            (self.folder / "scripts" / name).symlink_to(ROOT / "scripts" / name)
        for name in ("scripts/setup", "scripts/build", "scripts/tidy", "scripts/test_times", "ctest"):
            self.program(name, f'echo "called {name} $*"')

    def program(self, name, line):
        (self.folder / name).write_text(f"#!/bin/sh\n{line}\n")
        (self.folder / name).chmod(0o755)

    def check(self, *parts):
        path = f"PATH={self.folder}:{os.environ['PATH']}"
        ran = self.run_here("env", path, "MASE_JOBS=3", "scripts/check", *parts)
        calls = [
            line.removeprefix("called ").rstrip() for line in ran.stdout.splitlines() if line.startswith("called ")
        ]
        return ran.returncode, calls

    def test_parts_are_run_by_name_with_what_they_need(self):
        status, calls = self.check("tidy", "asan")
        self.assertEqual(status, 0)
        self.assertEqual(calls, ["scripts/setup --full", "scripts/build asan", "ctest --preset asan --parallel 3",
                                 "scripts/tidy"])  # fmt: skip

    def test_without_names_the_checked_and_the_release_build_are_tested(self):
        status, calls = self.check()
        self.assertEqual(status, 0)
        self.assertEqual(calls[:3], ["scripts/setup", "scripts/build release", "scripts/build check"])
        self.assertEqual(calls[4:], ["ctest --preset release --parallel 3", "scripts/test_times"])

    def test_a_part_that_fails_fails_the_check_and_the_next_one_is_run(self):
        self.program("ctest", 'echo "called ctest $*"; exit 1')
        status, calls = self.check("asan", "tidy")
        self.assertEqual((status, calls[-1]), (1, "scripts/tidy"))

    def test_an_unknown_part_is_refused_with_those_that_there_are(self):
        refused = self.run_here("scripts/check", "asan", "quick")
        self.assertEqual((refused.returncode, refused.stdout), (1, ""))
        self.assertIn("there is no part quick; there are: check dev asan ", refused.stderr)

    def test_every_part_that_is_named_is_one(self):
        text = (ROOT / "scripts/check").read_text()
        named = re.search(r"^all_parts=\((.*)\)$", text, re.MULTILINE)[1].split()
        self.assertCountEqual(re.findall(r"^    (\w+)\) part ", text, re.MULTILINE), named)


class Releases(Scripts):
    """A small tree that may be released, and what is found where something in it is wrong."""

    CHANGES = "# Changelog\n\n## Unreleased\n\n## 2.0.0 - 2026-02-02\n\n- New.\n\n## 1.9.0 - 2026-01-01\n\n- Old.\n"

    def setUp(self):
        super().setUp()
        for name in ("scripts", "build/release/bin"):
            (self.folder / name).mkdir(parents=True)
        (self.folder / "scripts/bench").symlink_to(ROOT / "scripts/bench")
        self.write("CMakeLists.txt", "project(mase VERSION 2.0.0 LANGUAGES CXX)\n")
        self.write("CHANGELOG.md", self.CHANGES)
        self.write("README.md", "Take mase_2.0.0_amd64.deb or mase-2.0.0-Linux.tar.gz.\n")

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def check(self, *words):
        told = self.run_here(ROOT / "scripts/release_check", "--root", self.folder, *words)
        self.assertIn(told.returncode, (0, 1), told.stderr)
        return told.returncode, told.stdout

    def expect(self, complaint):
        status, told = self.check("--between")
        self.assertEqual(status, 1)
        self.assertIn(complaint, told)

    def test_a_tree_in_order_passes(self):
        self.assertEqual(self.check("--between")[0], 0)

    def test_a_package_of_another_version_is_found(self):
        self.write("README.md", "Take mase_1.9.0_amd64.deb.\n")
        self.expect("mase_1.9.0_amd64")

    def test_headings_of_the_changelog_are_checked(self):
        for before, after, complaint in (
            ("## Unreleased\n", "", "Unreleased"),
            ("2026-02-02", "2026-02-30", "## 2.0.0 - 2026-02-30"),
            ("- New.\n", "", "lists no change"),
            ("2026-01-01", "2026-03-03", "2.0.0 stands above 1.9.0"),
            ("1.9.0", "2.0.1", "2.0.0 stands above 2.0.1"),
        ):
            self.write("CHANGELOG.md", self.CHANGES.replace(before, after))
            self.expect(complaint)

    def test_the_version_is_the_newest_release_of_the_changelog(self):
        self.write("CMakeLists.txt", "project(mase VERSION 2.1.0 LANGUAGES CXX)\n")
        self.write("README.md", "")
        self.expect("the newest release is 2.0.0, the version 2.1.0")

    def test_before_a_release_nothing_is_unreleased_uncommitted_unmeasured_or_tagged(self):
        (self.folder / "scripts/bench").unlink()
        (self.folder / "scripts/bench").mkdir()
        (self.folder / "scripts/bench/page").symlink_to(ROOT / "scripts/bench/page")
        self.write("scripts/bench/history.txt", history_of("2026-01-01", ("lenet", "4.00")))
        self.write("CHANGELOG.md", self.CHANGES.replace("Unreleased\n", "Unreleased\n\n- Newer.\n"))
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.invalid"]
        for words in (["init", "-q"], ["add", "README.md"], ["commit", "-qm", "one"], ["tag", "v2.0.0"]):
            self.assertEqual(self.run_here(*git, *words).returncode, 0)
        self.assertEqual(self.check("--between")[0], 0)
        status, told = self.check()
        self.assertEqual(status, 1)
        for complaint in ("'Unreleased' is not empty", "figures of training", "figures of beats", "build/release/bin/mase",
                          "not committed", "the tag v2.0.0 exists"):  # fmt: skip
            self.assertIn(complaint, told)

    def test_the_repository_is_in_order(self):
        told = self.run_here(ROOT / "scripts/release_check", "--between")
        self.assertEqual((told.returncode, told.stdout), (0, "release_check: nothing is wrong\n"))


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
