#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pictures in docs/images: rooms.svg shows the table of lib/README.md, and every other that has a source NAME.dot
shows that source. picture_rule.py ROOT draws them."""

import re
import subprocess
import sys
from pathlib import Path

from source_tree import read, read_table

IMAGES = "docs/images"
PICTURE = f"{IMAGES}/rooms.svg"


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
    for source in sorted((root / IMAGES).glob("*.dot")):
        yield from label_rule(source)


def label_rule(source):
    """Every line of a label in NAME.dot stands in NAME.svg, and nothing else does."""
    picture = source.with_suffix(".svg")
    labels = re.findall(r'label="(.*?)"', read(source))
    wanted = {line for label in labels for line in label.split("\\n")}
    drawn = set(re.findall(r"<text[^>]*>(.*?)</text>", read(picture))) if picture.exists() else set()
    for line in sorted(wanted ^ drawn):
        where = "does not show" if line in wanted else "shows"
        yield f"{IMAGES}/{picture.name}: {where} {line}; run scripts/docs"


def draw(text, picture):
    svg = subprocess.run(["dot", "-Tsvg"], input=text, capture_output=True, text=True, check=True).stdout
    picture.write_text(svg, encoding="utf-8")


def main(arguments):
    root = Path(arguments[0]).resolve()
    draw(dot_text(read_table(root)), root / PICTURE)
    for source in (root / IMAGES).glob("*.dot"):
        draw(read(source), source.with_suffix(".svg"))


if __name__ == "__main__":
    main(sys.argv[1:])
