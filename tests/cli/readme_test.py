#!/usr/bin/env python3
"""Holds README.md to its word: runs the shell blocks marked <!-- run -->, and compares the list of passes.

usage: readme_test.py --mase BINARY --source ROOT (commands|passes)
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

RUN_BLOCK = re.compile(r"^<!-- run -->\n+```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PASS_TABLE = re.compile(r"<!-- passes -->(.*?)<!-- end of passes -->", re.DOTALL)
LINKED = ("configs", "tests")  # what the commands name with relative paths


def run_block(commands, folder, environment):
    """Runs one block with every line echoed; its exit code."""
    script = "set -euxo pipefail\n" + commands
    return subprocess.run(
        ["bash", "-c", script], cwd=folder, env=environment, stdin=subprocess.DEVNULL, check=False
    ).returncode


def check_commands(readme, mase, source):
    """Runs the marked blocks in order in one temporary folder, as a reader would."""
    blocks = RUN_BLOCK.findall(readme)
    if not blocks:
        return ["README.md has no shell block marked <!-- run -->"]
    environment = {**os.environ, "PATH": f"{mase.parent}{os.pathsep}{os.environ['PATH']}", "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        for name in LINKED:
            (Path(folder) / name).symlink_to(source / name)
        for number, commands in enumerate(blocks, 1):
            code = run_block(commands, folder, environment)
            if code:
                return [f"README.md: block {number} of those marked <!-- run --> ended with {code}:\n{commands}"]
    print(f"{len(blocks)} blocks of README.md ran")
    return []


def program_passes(mase):
    """Names of `mase list passes --json`: a list of objects, or an object that holds one under "passes"."""
    output = subprocess.run([mase, "list", "passes", "--json"], capture_output=True, text=True, check=True).stdout
    document = json.loads(output)
    rows = document["passes"] if isinstance(document, dict) else document
    return {row["name"] for row in rows}


def check_passes(readme, mase, _source):
    """The first column of README's table of passes equals what the program has."""
    table = PASS_TABLE.search(readme)
    if not table:
        return ["README.md has no table between <!-- passes --> and <!-- end of passes -->"]
    written = set(re.findall(r"^\| `(\w+)` \|", table.group(1), re.MULTILINE))
    known = program_passes(mase)
    return [f"README.md lists `{name}`, which the program does not have" for name in sorted(written - known)] + [
        f"README.md does not list the pass `{name}`" for name in sorted(known - written)
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mase", type=Path, required=True)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("what", choices=("commands", "passes"))
    arguments = parser.parse_args()
    readme = (arguments.source / "README.md").read_text(encoding="utf-8")
    check = check_commands if arguments.what == "commands" else check_passes
    complaints = check(readme, arguments.mase.resolve(), arguments.source.resolve())
    print("\n".join(complaints))
    return int(bool(complaints))


if __name__ == "__main__":
    sys.exit(main())
