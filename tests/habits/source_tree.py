# SPDX-License-Identifier: Apache-2.0
"""What the habit tests know about the source tree: its files, its includes, and the table of lib/README.md."""

import re
from dataclasses import dataclass

DATA_FOLDERS = ("tests/fixtures/models", "tests/fixtures/golden", "configs/data")
TEXT_ROOTS = ("apps", "lib", "tests", "scripts", "configs", "hw_templates", ".ci", ".github")
CODE_SUFFIXES = (".cpp", ".hpp")


def relative(path, root):
    return path.relative_to(root).as_posix()


def files_under(root, folders, suffixes=None):
    """Sorted files below the folders, without stored data and without Python's caches."""
    found = []
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            name = relative(path, root)
            if not path.is_file() or "__pycache__" in path.parts:
                continue
            if any(name.startswith(data + "/") for data in DATA_FOLDERS):
                continue
            if suffixes is None or path.suffix in suffixes:
                found.append(path)
    return found


def read(path):
    return path.read_text(encoding="utf-8", errors="replace")


def includes(text):
    """(line number, header, whether in quotes: a header of the project) of every #include."""
    pattern = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')
    for number, line in enumerate(text.splitlines(), 1):
        match = pattern.match(line)
        if match:
            yield number, match.group(2), match.group(1) == '"'


@dataclass
class Folder:
    """One row of the table: a stage, the folders that it uses, and foreign libraries."""

    name: str
    uses: list
    third_party: list


def read_table(root):
    """The rows of the table in lib/README.md, by folder name, in order."""
    rows = {}
    for line in read(root / "lib/README.md").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) != 3 or not re.fullmatch(r"`[\w/]+`", cells[0]):
            continue
        name = cells[0].strip("`")
        rows[name] = Folder(name, words(cells[1]), words(cells[2]))
    return rows


def words(cell):
    """The comma-separated names of a cell; a dash means none."""
    if cell in ("", "—", "-"):
        return []
    return [word.strip().strip("`") for word in cell.split(",")]


def owner_of(path, rows):
    """The row to which a path below lib/ belongs: the longest folder around it that has one, or None."""
    parts = path.split("/")[:-1]
    while parts and "/".join(parts) not in rows:
        parts.pop()
    return "/".join(parts) or None
