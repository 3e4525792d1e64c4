#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pages of docs/reference are what the program prints; the man page and the completions are well formed.

usage: reference_test.py --mase BINARY --source ROOT [--update]    --update: write the pages instead (scripts/docs does)
"""

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path


def output(mase, *words):
    return subprocess.run([mase, *words], capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL).stdout


def lists(mase):
    """The names of all lists, from the help of `mase list`."""
    words = re.search(r"^  what WHAT +(.*?)\n  name", output(mase, "list", "--help"), re.MULTILINE | re.DOTALL).group(1)
    return [word.strip() for word in " ".join(words.split()).split(",")]


def pages(mase):
    """File name and text of every page."""
    yield "commands.md", output(mase, "manual", "--markdown")
    for what in lists(mase):
        yield f"{what}.md", output(mase, "list", what, "--markdown")


def check_pages(mase, folder, update):
    expected = dict(pages(mase))
    for name, text in expected.items():
        path = folder / name
        if update:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            yield f"docs/reference/{name} is not what the program prints; run scripts/docs"
    for path in sorted(folder.glob("*.md")):
        if path.name not in expected:
            yield f"docs/reference/{path.name}: the program prints no such page"


def check_manual(mase):
    """Every command has its heading; no line begins with a request that man pages do not have."""
    page = output(mase, "manual")
    commands = re.findall(r"^  (\w+)[, ].*", output(mase, "--help").split("Subcommands:")[1], re.MULTILINE)
    for command in commands:
        if f".SS mase {command} " not in page:
            yield f"the man page has no heading for '{command}'"
    for line in page.splitlines():
        if line.startswith((".", "'")) and line.split(" ")[0] not in (
            ".TH",
            ".SH",
            ".SS",
            ".TP",
            ".B",
            ".PP",
            ".nf",
            ".fi",
        ):
            yield f"the man page has the line {line!r}"
    if shutil.which("mandoc"):
        found = subprocess.run(
            ["mandoc", "-T", "lint", "-W", "error"], input=page, capture_output=True, text=True, check=False
        )
        if found.returncode:
            yield f"mandoc: {found.stdout}"
    elif shutil.which("groff"):
        found = subprocess.run(["groff", "-man", "-ww", "-z"], input=page, capture_output=True, text=True, check=False)
        if found.stderr:
            yield f"groff: {found.stderr}"


def check_completions(mase):
    """bash reads its script; every command is offered."""
    script = output(mase, "completion", "bash")
    if subprocess.run(["bash", "-n"], input=script, text=True, check=False).returncode:
        yield "bash does not read its completion script"
    for shell in ("bash", "fish", "zsh"):
        if "transform" not in output(mase, "completion", shell):
            yield f"the completions for {shell} do not offer 'transform'"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mase", type=Path, required=True)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    mase = arguments.mase.resolve()
    complaints = list(check_pages(mase, arguments.source / "docs/reference", arguments.update))
    complaints += [*check_manual(mase), *check_completions(mase)]
    print("\n".join(complaints))
    return int(bool(complaints))


if __name__ == "__main__":
    sys.exit(main())
