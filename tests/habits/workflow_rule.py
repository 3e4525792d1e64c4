# SPDX-License-Identifier: Apache-2.0
"""Rules on hosted continuous integration: its steps are scripts of the repository, with words that these take."""

import itertools
import json
import os
import re

from source_tree import read, relative

STEP = re.compile(r"^ *(?:- )?run: *(.*)$", re.MULTILINE)
ACTION = re.compile(r"^ *(?:- )?uses: *(\S*)", re.MULTILINE)
MATRIX = re.compile(r"\$\{\{ *matrix\.(\w+) *\}\}")
PARTS = re.compile(r"^all_parts=\((.*)\)$", re.MULTILINE)


def workflows(root):
    return sorted((root / ".github/workflows").glob("*.yml"))


def spelled_out(command, text):
    """The command for every value of the matrix that it names."""
    names = sorted(set(MATRIX.findall(command)))
    values = []
    for name in names:
        listed = re.search(rf"^ *{name}: *\[(.*)\]$", text, re.MULTILINE)
        values.append([value.strip() for value in listed[1].split(",")] if listed else [])
    for chosen in itertools.product(*values):
        known = dict(zip(names, chosen))
        yield MATRIX.sub(lambda match: known[match[1]], command)


def presets(root):
    """The presets of builds that users may name."""
    listed = json.loads(read(root / "CMakePresets.json"))["configurePresets"]
    return {preset["name"] for preset in listed if not preset.get("hidden")}


def wrong_words(root, command):
    """What of a command its script would not take."""
    script, *words = command.split()
    path = root / script
    if not script.startswith("scripts/") or not path.is_file():
        yield f"'{command}' is not a script of the repository"
        return
    if not os.access(path, os.X_OK):
        yield f"{script} cannot be executed"
    text = read(path)
    for word in words:
        if word.startswith("--"):
            if not re.search(rf"{word}\b", text):
                yield f"{script} has no option {word}"
        elif listed := PARTS.search(text):
            if word not in listed[1].split():
                yield f"{script} has no part {word}"
    if script == "scripts/build" and words and words[0] not in presets(root):
        yield f"there is no preset {words[0]}"


def script_rule(root):
    """Every step of a workflow is a line that calls a script with words that it takes."""
    for path in workflows(root):
        text = read(path)
        for step in STEP.finditer(text):
            where = f"{relative(path, root)}:{text.count(chr(10), 0, step.start()) + 1}"
            commands = list(spelled_out(step[1], text))
            if not commands:
                yield f"{where}: '{step[1]}' has no values in the matrix"
            for command in commands:
                for wrong in wrong_words(root, command):
                    yield f"{where}: {wrong}"


def action_rule(root):
    """Actions of others are named with their major version, and a workflow may read the repository and no more."""
    for path in workflows(root):
        text = read(path)
        for action in ACTION.finditer(text):
            if not re.fullmatch(r"[\w-]+/[\w-]+@v\d+", action[1]):
                yield f"{relative(path, root)}: {action[1]} is not named as OWNER/NAME@vMAJOR"
        if re.findall(r"^ *permissions:(.*(?:\n +.*)*)", text, re.MULTILINE) != ["\n  contents: read"]:
            yield f"{relative(path, root)}: its permissions are not 'contents: read' alone, once for all jobs"
