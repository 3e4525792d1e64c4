#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs one habit test, or all, on a source tree: habits.py ROOT [NAME]. Python's standard library only."""

import sys
from pathlib import Path

import citation_rule
import file_rules
import include_rule
import picture_rule
import prose_rule
import workflow_rule

RULES = {
    "includes": (include_rule.include_rule, include_rule.torchscript_rule),
    "folders": (include_rule.table_rule, include_rule.order_rule, include_rule.link_rule),
    "passes": (file_rules.pass_rule,),
    "files": (
        file_rules.head_rule,
        file_rules.word_rule,
        file_rules.archive_rule,
        file_rules.header_rule,
        file_rules.added_test_rule,
    ),
    "licences": (file_rules.licence_rule,),
    "configs": (file_rules.config_rule,),
    "snippets": (file_rules.snippet_rule,),
    "citations": (citation_rule.file_rule, citation_rule.section_rule, citation_rule.command_rule),
    "picture": (picture_rule.picture_rule,),
    "workflows": (workflow_rule.script_rule, workflow_rule.action_rule),
    "prose": (prose_rule.width_rule, prose_rule.form_rule),
}


def run(root, name):
    """Complaints of every rule of one habit."""
    return [complaint for rule in RULES[name] for complaint in rule(root)]


def main(arguments):
    if not arguments or any(name not in RULES for name in arguments[1:]):
        print(f"usage: habits.py ROOT [{'|'.join(RULES)}]...", file=sys.stderr)
        return 2
    bad = False
    for name in arguments[1:] or RULES:
        complaints = run(Path(arguments[0]).resolve(), name)
        bad = bad or bool(complaints)
        print("\n".join(complaints) if complaints else f"{name}: kept")
    return int(bad)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
