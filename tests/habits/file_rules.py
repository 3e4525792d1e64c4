# SPDX-License-Identifier: Apache-2.0
"""Rules on single files: opening comment, forbidden words, a test for every pass and every configuration."""

import re
import zipfile

from source_tree import CODE_SUFFIXES, TEXT_ROOTS, files_under, read, relative

COMMENT_STARTS = {
    ".cpp": ("//",),
    ".hpp": ("//",),
    ".py": ("#", '"""'),
    ".sh": ("#",),
    ".toml": ("#",),
    ".cmake": ("#",),
    ".sv": ("//",),
    ".md": ("#", "<"),
    ".txt": ("#",),
    ".yml": ("#",),
    "": ("#",),
}
# Split so that this file does not complain about itself.
MACHINE_FOLDER = r"(?<![\w.}])/(work|tmp|root|home)" r"/"
FORBIDDEN = [
    (re.compile(r"\b(TO" r"DO|FIX" r"ME|X" r"XX|HA" r"CK)\b"), "unfinished work; finish it or open an issue"),
    (re.compile(r"\bfor" r" now\b"), "unfinished work; finish it or open an issue"),
    (re.compile(MACHINE_FOLDER), "a path of one machine"),
]
# Written by scripts/bench/run: nobody's words.
RECORDED = ("scripts/bench/history.txt",)
TEXT_SUFFIXES = set(COMMENT_STARTS) | {".json", ".test", ".svh"}
PASS_NAME = re.compile(r'PassDoc\s+doc\{\s*"(\w+)"')


LICENCE = "SPDX-License-Identifier: Apache-2.0"


def licensed_files(root):
    """Sources: what a compiler, an interpreter or a build reads; not pages, data and configurations."""
    top = [root / "CMakeLists.txt"]
    for path in [p for p in top if p.exists()] + files_under(root, TEXT_ROOTS):
        if needs_head(path) and path.suffix not in (".md", ".toml"):
            yield path


def licence_line(path):
    return ("// " if "//" in COMMENT_STARTS[path.suffix] else "# ") + LICENCE


def licence_rule(root):
    """Every source begins with the licence line (after #!)."""
    for path in licensed_files(root):
        lines = read(path).splitlines()
        first = lines[1:2] if lines and lines[0].startswith("#!") else lines[:1]
        if first != [licence_line(path)]:
            yield f"{relative(path, root)}:1: does not begin with '{licence_line(path)}'"


def needs_head(path):
    if path.name == "CMakeLists.txt" or path.suffix != ".txt":
        return path.suffix in COMMENT_STARTS
    return False


def head_rule(root):
    """Every file opens with a comment on what it holds (after #! and the licence line)."""
    for path in files_under(root, TEXT_ROOTS):
        if not needs_head(path):
            continue
        lines = [line for line in read(path).splitlines() if line.strip()]
        if lines and lines[0].startswith("#!"):
            lines = lines[1:]
        if lines and lines[0].endswith(LICENCE):
            lines = lines[1:]
        starts = COMMENT_STARTS[path.suffix]
        if not lines or not lines[0].startswith(starts) or not re.search(r"\w", lines[0]):
            yield f"{relative(path, root)}:1: does not open with a comment that says what it holds"


def word_rule(root):
    """No unfinished work and no machine's paths in any text of the repository."""
    top = [path for path in sorted(root.iterdir()) if path.is_file() and path.suffix in TEXT_SUFFIXES]
    for path in top + [p for p in files_under(root, TEXT_ROOTS) if p.suffix in TEXT_SUFFIXES]:
        if path.name in (".git", "LICENSE") or relative(path, root) in RECORDED:
            continue
        for number, line in enumerate(read(path).splitlines(), 1):
            for pattern, reason in FORBIDDEN:
                match = pattern.search(line)
                if match:
                    yield f"{relative(path, root)}:{number}: '{match.group(0)}': {reason}"


SOURCE_PLACES = (".debug_pkl", ".py", ".json")


def archive_rule(root):
    """Models that PyTorch wrote name no file of the machine in their debug records."""
    for path in sorted((root / "tests").rglob("*.pt*")):
        if not zipfile.is_zipfile(path):
            continue
        with zipfile.ZipFile(path) as archive:
            for name in [name for name in archive.namelist() if name.endswith(SOURCE_PLACES)]:
                match = re.search(MACHINE_FOLDER + r"[\w./-]+", archive.read(name).decode("ascii", "replace"))
                if match:
                    yield f"{relative(path, root)}: {name} has {match.group(0)}, a path of one machine"
                    break


def header_rule(root):
    """Headers say #pragma once; namespaces are not opened wholesale."""
    for path in files_under(root, ("lib", "apps"), CODE_SUFFIXES):
        text = read(path)
        if path.suffix == ".hpp" and "\n#pragma once\n" not in text:
            yield f"{relative(path, root)}: has no '#pragma once'"
        if path.suffix == ".hpp" and re.search(r"^using namespace", text, re.MULTILINE):
            yield f"{relative(path, root)}: a header must not say 'using namespace'"


def pass_rule(root):
    """Every header that declares passes has tests/passes/NAME*, a source, and a place in the pass table."""
    table_path = root / "lib/driver/all_passes.cpp"
    table = read(table_path) if table_path.exists() else ""
    tests = [path.name for path in (root / "tests/passes").glob("*")]
    for path in files_under(root, ("lib/passes",), (".hpp",)):
        name = relative(path, root)
        declared = PASS_NAME.findall(read(path))
        if name.count("/") < 3 or not declared:
            continue
        if len(declared) == 1 and declared[0] != path.stem:
            yield f"{name}: declares the pass {declared[0]}; file and pass have the same name"
        if not any(test.startswith(path.stem) for test in tests):
            yield f"{name}: has no test tests/passes/{path.stem}*"
        if f'"{name[len("lib/") :]}"' not in table:
            yield f"{name}: lib/driver/all_passes.cpp does not include it"


def config_rule(root):
    """Every shipped configuration is used by a test, or by a command of a page that a test runs."""
    tests = [path for path in files_under(root, ("tests",)) if path.suffix in (".cpp", ".py", ".sh", ".txt")]
    pages = [page for page in files_under(root, ("docs",), (".md",)) if "<!-- run -->" in read(page)]
    texts = [read(path) for path in tests + pages + [root / "README.md"]]
    for path in files_under(root, ("configs",), (".toml",)):
        if not any(path.name in text for text in texts):
            yield f"{relative(path, root)}: no test uses it"


SNIPPET = re.compile(r"<!-- file (\S+) -->\n```\w*\n(.*?)```", re.DOTALL)


def snippet_rule(root):
    """Code shown in lib/README.md stands in the file it names, word for word."""
    text = read(root / "lib/README.md")
    for name, code in SNIPPET.findall(text):
        path = root / name
        if not path.exists() or code not in read(path):
            yield f"lib/README.md: the code shown for {name} is not in that file"


def added_test_rule(root):
    """Every test is added by mase_add_test, which gives all of them one limit of time and a cache folder."""
    for path in files_under(root, ("tests",), (".txt", ".cmake")):
        name = relative(path, root)
        if path.suffix == ".txt" and path.name != "CMakeLists.txt" or name == "tests/CMakeLists.txt":
            continue
        for number, line in enumerate(read(path).splitlines(), 1):
            found = re.search(r"^\s*add_test\(|\bTIMEOUT\b", line)
            if found:
                yield f"{name}:{number}: '{found.group(0).strip()}': add the test by mase_add_test (tests/CMakeLists.txt)"
