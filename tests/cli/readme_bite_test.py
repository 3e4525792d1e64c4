#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The test of pages bites: pages with one fault each, and the complaint that must follow."""

import os
import tempfile
import unittest
from pathlib import Path

import readme_test

TABLE = "printf '| layer | 16 |\\ndone after 3.25 s\\n'"


def complaints(shown, commands=TABLE):
    """Complaints about a page with one block of commands and what it shows as their output."""
    page = f"# Page\n\n<!-- run -->\n```sh\n{commands}\n```\n<!-- output -->\n```\n{shown}\n```\n"
    with tempfile.TemporaryDirectory() as folder:
        for name in readme_test.LINKED:
            (Path(folder) / name).mkdir()
        with open(os.devnull, "w", encoding="utf-8") as nowhere:
            # What blocks print is for people who read the log of a failure.
            readme_test.print = lambda *words, **_: nowhere.write(str(words))
            return readme_test.check_commands("page.md", page, Path(folder) / "bin/mase", Path(folder))


class PagesBite(unittest.TestCase):
    def test_a_page_that_is_true_passes(self):
        self.assertEqual(complaints("| layer | 16 |\n...\ndone after 3.25 s"), [])
        self.assertEqual(
            complaints("|  layer  |  18  |\ndone after 4.0 s"), [], "figures of tables and widths may differ"
        )

    def test_a_line_that_is_not_printed_is_found(self):
        self.assertIn("done before", complaints("| layer | 16 |\ndone before 3.25 s")[0])

    def test_lines_in_another_order_are_found(self):
        self.assertIn("| layer |", complaints("done after 3.25 s\n| layer | 16 |")[0])

    def test_a_command_that_fails_is_found(self):
        self.assertIn("ended with 3", complaints("", "exit 3")[0])

    def test_a_page_without_commands_is_found(self):
        self.assertIn("no shell block", readme_test.check_commands("page.md", "# Page\n", Path("mase"), Path())[0])


if __name__ == "__main__":
    unittest.main()
