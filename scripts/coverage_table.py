#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Prints gcovr's JSON summary as a table of the rooms of lib/README.md.
"""usage: coverage_table.py SUMMARY.json lib/README.md"""

import json
import re
import sys


def rooms_of(readme):
    """Names of the rooms, the longest first, so that an inner room is found before the one around it."""
    with open(readme, encoding="utf-8") as file:
        names = re.findall(r"^\| `([\w/]+)` \|", file.read(), re.MULTILINE)
    return sorted(names, key=len, reverse=True)


def main(summary, readme):
    rooms = rooms_of(readme)
    counts = {}
    with open(summary, encoding="utf-8") as file:
        files = json.load(file)["files"]
    for entry in files:
        path = entry["filename"].removeprefix("lib/")
        room = next((name for name in rooms if path.startswith(name + "/")), "other")
        covered, total = counts.get(room, (0, 0))
        counts[room] = (covered + entry["line_covered"], total + entry["line_total"])
    counts = dict(sorted(counts.items()))
    counts["all"] = tuple(sum(column) for column in zip(*counts.values()))
    print(f"{'room':<28} {'lines':>7} {'covered':>8} {'share':>8}")
    for room, (covered, total) in counts.items():
        print(f"{room:<28} {total:>7} {covered:>8} {100 * covered / max(total, 1):>7.1f}%")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
