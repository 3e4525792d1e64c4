#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The picture of the data flow, docs/images/rooms.svg, shows the table of lib/README.md: picture_rule.py ROOT draws it."""

import re
import subprocess
import sys
from pathlib import Path

from source_tree import read, read_table

PICTURE = "docs/images/rooms.svg"


def reachable(rows, name):
    """Every room that a room uses, directly or through others."""
    found = set()
    for use in rows[name].uses if name in rows else []:
        found |= {use} | reachable(rows, use)
    return found


def edges(rows):
    """(used, user) without what follows from the others: the fewest arrows with the same paths."""
    for name, row in rows.items():
        for use in row.uses:
            if not any(use in reachable(rows, other) for other in row.uses if other != use):
                yield use, name


def dot_text(rows):
    lines = [
        "digraph rooms {",
        '  rankdir="TB";',
        '  bgcolor="transparent";',
        '  node [shape=box, style="filled,rounded", fillcolor="#eef3fa", color="#4a6a8a", fontname="Helvetica", fontsize=12];',
        '  edge [color="#4a6a8a", arrowsize=0.7];',
    ]
    lines += [f'  "{name}";' for name in rows]
    lines += [f'  "{use}" -> "{user}";' for use, user in edges(rows)]
    return "\n".join(lines + ["}"]) + "\n"


def titles(svg):
    """Names of rooms and arrows in a picture of graphviz."""
    unescaped = (title.replace("&#45;", "-").replace("&gt;", ">") for title in re.findall(r"<title>(.*?)</title>", svg))
    return set(unescaped) - {"rooms"}


def picture_rule(root):
    """docs/images/rooms.svg has a box for every room and an arrow for every use."""
    path = root / PICTURE
    rows = read_table(root)
    wanted = set(rows) | {f"{use}->{user}" for use, user in edges(rows)}
    drawn = titles(read(path)) if path.exists() else set()
    for title in sorted(wanted ^ drawn):
        where = "does not show" if title in wanted else "shows"
        yield f"{PICTURE}: {where} {title}; run scripts/docs"


def main(arguments):
    root = Path(arguments[0]).resolve()
    text = dot_text(read_table(root))
    svg = subprocess.run(["dot", "-Tsvg"], input=text, capture_output=True, text=True, check=True).stdout
    (root / PICTURE).write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
