#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The habit tests bite: small source trees with one fault each, and the complaint that must follow."""

import io
import tempfile
import unittest
import zipfile
from pathlib import Path

import file_rules
import habits

TABLE = """# Folders

| folder | uses | third party |
|---|---|---|
| `base` | — | spdlog |
| `ir` | base | — |
| `late` | base, ir | — |
| `late/room` | ir | — |

## `base`

Base.

## `ir`

Graph.

## `late`

Late.

## `late/room`

A room inside.
"""
CMAKE = """# Libraries.
mase_library(base PRIVATE spdlog::spdlog)
mase_library(ir USES base)
mase_library(late ROOMS room USES base ir)
mase_library(late/room USES ir)
target_link_libraries(mase_torch PUBLIC)
"""
PICTURE = "".join(
    f"<title>{title}</title>\n"
    for title in ("base", "ir", "late", "late/room", "base&#45;&gt;ir", "ir&#45;&gt;late", "ir&#45;&gt;late/room")
)
COMMANDS = "# Commands\n\n### `mase run [OPTIONS] model`\n\nruns.\n\n- `--level LEVEL`: how.\n\n## Settings\n"
GOOD = {
    "lib/README.md": TABLE,
    "lib/CMakeLists.txt": CMAKE,
    "lib/base/log.cpp": "// Log.\n#include <spdlog/spdlog.h>\n#include <vector>\n",
    "lib/ir/graph.hpp": '// Graph.\n#pragma once\n#include "base/log.hpp"\n',
    "lib/late/face.hpp": '// Face.\n#pragma once\n#include "ir/graph.hpp"\n',
    "lib/late/room/in.cpp": '// In.\n#include "ir/graph.hpp"\n',
    "lib/passes_are_elsewhere.txt": "",
    "README.md": "# Read me\n",
    "docs/formats.md": "# Formats\n\n## 1. Conventions\n\n### Storage\n\n## 2. Elements\n",
    "docs/reference/commands.md": COMMANDS,
    "docs/images/rooms.svg": PICTURE,
}
for name, text in GOOD.items():
    if name.endswith((".cpp", ".hpp", "CMakeLists.txt")):
        GOOD[name] = ("# " if name.endswith(".txt") else "// ") + file_rules.LICENCE + "\n" + text


class HabitsBite(unittest.TestCase):
    def complaints(self, name, changes):
        """Complaints of a habit about the good tree with some files changed."""
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder).resolve()
            for path, text in {**GOOD, **changes}.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_bytes(text if isinstance(text, bytes) else text.encode())
            return habits.run(root, name)

    def expect(self, name, changes, *words):
        complaints = self.complaints(name, changes)
        self.assertEqual(len(complaints), 1, complaints)
        for word in words:
            self.assertIn(word, complaints[0])

    def test_the_good_tree_keeps_every_habit(self):
        for name in habits.RULES:
            self.assertEqual(self.complaints(name, {}), [])

    def test_an_include_against_the_flow_is_found(self):
        changes = {"lib/base/low.cpp": '// Low.\n\n#include "ir/graph.hpp"\n'}
        self.expect("includes", changes, "lib/base/low.cpp:3", "`base` may not use `ir/graph.hpp`")

    def test_a_room_inside_a_folder_has_a_row_of_its_own(self):
        self.expect("includes", {"lib/late/room/in.cpp": '// In.\n#include "late/face.hpp"\n'}, "late/face.hpp")
        self.expect("includes", {"lib/late/a.cpp": '// A.\n#include "late/room/in.hpp"\n'}, "late/room/in.hpp")

    def test_a_header_inside_of_another_room_is_found(self):
        tree = {"lib/ir/inside/node.hpp": "// Node.\n#pragma once\n"}
        self.assertEqual(
            self.complaints("includes", {**tree, "lib/ir/a.cpp": '// A.\n#include "ir/inside/node.hpp"\n'}), []
        )
        late = {"lib/late/a.cpp": '// A.\n#include "ir/inside/node.hpp"\n'}
        self.expect("includes", {**tree, **late}, "lib/late/a.cpp:2", "is inside of `ir`")

    def test_an_own_header_without_its_folder_is_found(self):
        self.expect("includes", {"lib/late/a.cpp": '// A.\n#include "face.hpp"\n'}, "with its folder")

    def test_a_foreign_library_in_the_wrong_folder_is_found(self):
        self.expect("includes", {"lib/ir/a.cpp": "// A.\n#include <spdlog/spdlog.h>\n"}, "spdlog")
        self.expect("includes", {"lib/ir/a.cpp": "// A.\n#include <ATen/ATen.h>\n"}, "LibTorch")
        self.expect("includes", {"lib/ir/a.cpp": "// A.\n#include <boost/any.hpp>\n"}, "boost")

    def test_a_foreign_library_in_a_header_is_found(self):
        changes = {"lib/base/a.hpp": "// A.\n#pragma once\n#include <spdlog/spdlog.h>\n"}
        self.expect("includes", changes, "sources only")

    def test_torchscript_outside_import_and_export_is_found(self):
        changes = {"lib/ir/a.cpp": "// A.\nauto f() { return torch::jit::load(name); }\n"}
        self.expect("includes", changes, "lib/ir/a.cpp:2", "torch::jit")

    def test_a_torchscript_header_of_export_stays_private_to_it(self):
        rooms = "".join(f"| `{room}` | | LibTorch |\n" for room in ("torch/export", "torch/run"))
        paragraphs = "\n## `torch/export`\n\nE.\n\n## `torch/run`\n\nR.\n"
        table = TABLE.replace("| `late/room` | ir | — |\n", "| `late/room` | ir | — |\n" + rooms) + paragraphs
        changes = {
            "lib/README.md": table.replace("| `torch/run` | |", "| `torch/run` | torch/export |"),
            "lib/torch/export/tree.hpp": "// Tree.\n#pragma once\n#include <torch/csrc/jit/api/module.h>\n",
            "lib/torch/export/write.cpp": '// Export.\n#include "torch/export/tree.hpp"\n',
        }
        self.assertEqual(self.complaints("includes", changes), [])
        run = {"lib/torch/run/executor.cpp": '// Run.\n#include "torch/export/tree.hpp"\n'}
        self.expect("includes", {**changes, **run}, "executor.cpp:2")

    def test_a_folder_without_row_and_paragraph_is_found(self):
        self.expect("folders", {"lib/extra/a.cpp": "// A.\n"}, "lib/extra/a.cpp")
        self.expect("folders", {"lib/README.md": TABLE.replace("## `ir`\n\nGraph.\n", "")}, "paragraphs")

    def test_a_link_that_the_table_does_not_name_is_found(self):
        self.expect("folders", {"lib/CMakeLists.txt": CMAKE.replace("ir USES base", "ir")}, "ir links []")

    def test_a_row_above_what_it_uses_is_found(self):
        upward = {
            "lib/README.md": TABLE.replace("| `base` | — |", "| `base` | late |"),
            "lib/CMakeLists.txt": CMAKE.replace("mase_library(base", "mase_library(base USES late"),
        }
        self.expect("folders", upward, "`late`, which does not stand above it")

    def test_a_pass_without_test_and_row_is_found(self):
        header = '// P.\n#pragma once\nstruct P { static constexpr PassDoc doc{"prune", k, "s"}; };\n'
        complaints = self.complaints("passes", {"lib/passes/transform/prune.hpp": header})
        self.assertEqual(len(complaints), 2, complaints)
        table = {"lib/driver/all_passes.cpp": '// T.\n#include "passes/transform/prune.hpp"\n'}
        tests = {"tests/passes/prune_test.cpp": "// Tests.\n"}
        self.assertEqual(self.complaints("passes", {"lib/passes/transform/prune.hpp": header, **table, **tests}), [])

    def test_a_file_without_opening_comment_is_found(self):
        self.expect("files", {"lib/ir/a.cpp": "#include <vector>\n"}, "lib/ir/a.cpp:1")

    def test_a_source_without_licence_is_found(self):
        self.expect("licences", {"lib/ir/a.cpp": "// A.\n"}, "lib/ir/a.cpp:1", file_rules.LICENCE)
        self.expect("licences", {"scripts/a": "#!/bin/sh\n# A.\n"}, "scripts/a:1")
        self.assertEqual(self.complaints("licences", {"scripts/a": f"#!/bin/sh\n# {file_rules.LICENCE}\n# A.\n"}), [])

    def test_unfinished_work_and_machine_paths_are_found(self):
        self.expect("files", {"lib/ir/a.cpp": "// A.\n// TO" + "DO: more\n"}, "lib/ir/a.cpp:2")
        self.expect("files", {"scripts/a.sh": "# A.\ncd /ho" + "me/me\n"}, "one machine")
        self.expect("files", {"README.md": "# Read me\nsee /wo" + "rk/main\n"}, "README.md:2")

    def test_a_path_in_the_debug_records_of_a_model_is_found(self):
        def model(source):
            archive = io.BytesIO()
            with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as written:
                written.writestr("model/code/a.py.debug_pkl", source)
            return archive.getvalue()

        self.expect("files", {"tests/fixtures/a.pt": model("\0/ho" + "me/me/net.py")}, "a.pt", "/me/net.py")
        self.assertEqual(self.complaints("files", {"tests/fixtures/a.pt": model("./////net.py")}), [])

    def workflow(self, step, **changes):
        """A tree with a workflow of one step, beside the script that it calls."""
        workflow = (
            f"# {file_rules.LICENCE}\n# Jobs.\npermissions:\n  contents: read\njobs:\n  part: [fast, slow]\n  {step}\n"
        )
        return {".github/workflows/ci.yml": workflow, "scripts/try": "#!/bin/sh\nall_parts=(fast slow)\n", **changes}

    def test_a_step_that_is_no_script_or_that_its_script_refuses_is_found(self):
        for step, *words in (
            ("- run: scripts/try ${{ matrix.part }} --all", "ci.yml:7", "no option --all"),
            ("- run: scripts/try quick", "ci.yml:7", "no part quick"),
            ("- run: scripts/other", "not a script of the repository"),
            ("- run: make", "not a script of the repository"),
            ("- run: scripts/try ${{ matrix.other }}", "no values in the matrix"),
            ("- uses: actions/checkout@main", "actions/checkout@main is not named"),
            ("permissions: write-all", "permissions"),
        ):
            found = self.complaints("workflows", self.workflow(step))
            found = [complaint for complaint in found if "cannot be executed" not in complaint]
            self.assertEqual(len(set(found)), 1, found)
            for word in words:
                self.assertIn(word, found[0])

    def test_a_preset_that_there_is_not_is_found(self):
        presets = '{"configurePresets": [{"name": "base", "hidden": true}, {"name": "dev"}]}'
        for preset, complaints in (("dev", []), ("base", ["there is no preset base"])):
            step = f"- run: scripts/build {preset}"
            tree = self.workflow(step, **{"scripts/build": "#!/bin/sh\n", "CMakePresets.json": presets})
            found = [text.partition(": ")[2] for text in self.complaints("workflows", tree)]
            self.assertEqual(found, ["scripts/build cannot be executed", *complaints])

    def test_figures_that_a_benchmark_recorded_are_nobodys_words(self):
        figures = "# Figures.\nFile /wo" + "rk/main/a.py\n"
        self.assertEqual(self.complaints("files", {"scripts/bench/history.txt": figures}), [])
        self.expect("files", {"scripts/bench/other.txt": figures}, "one machine")

    def test_a_header_without_pragma_once_is_found(self):
        self.expect("files", {"lib/ir/a.hpp": "// A.\nint f();\n"}, "pragma once")

    def test_a_test_with_a_limit_of_its_own_is_found(self):
        added = "# Tests.\nmase_add_test(one LABEL fast COMMAND one)\n"
        licence = f"# {file_rules.LICENCE}\n"
        self.assertEqual(self.complaints("files", {"tests/a/CMakeLists.txt": licence + added}), [])
        alone = licence + added + "add_test(NAME two COMMAND two)\n"
        self.expect("files", {"tests/a/CMakeLists.txt": alone}, "tests/a/CMakeLists.txt:4", "mase_add_test")
        limited = licence + added + "set_tests_properties(one PROPERTIES TIMEOUT 60)\n"
        self.expect("files", {"tests/a/CMakeLists.txt": limited}, "TIMEOUT")

    def test_a_configuration_that_no_test_uses_is_found(self):
        self.expect("configs", {"configs/a.toml": "# A.\n"}, "configs/a.toml")
        used = {"configs/a.toml": "# A.\n", "README.md": "mase transform --config configs/a.toml\n"}
        self.assertEqual(self.complaints("configs", used), [])

    def test_a_file_that_is_cited_and_not_there_is_found(self):
        self.assertEqual(self.complaints("citations", {"lib/ir/a.cpp": "// See lib/ir/graph.hpp and graph.hpp.\n"}), [])
        self.expect(
            "citations", {"lib/ir/a.cpp": "// A.\n// See lib/ir/grph.hpp.\n"}, "lib/ir/a.cpp:2", "lib/ir/grph.hpp"
        )
        self.expect("citations", {"lib/ir/a.cpp": "// The loop of grph.hpp.\nint f();\n"}, "there is no grph.hpp")
        self.expect("citations", {"docs/a.md": "# A\n\nRuns `scripts/nothing`.\n"}, "docs/a.md:3", "scripts/nothing")

    def test_a_section_that_is_cited_and_not_there_is_found(self):
        good = {"lib/ir/a.cpp": "// Codes (formats.md, sections 1 and\n// 2), packed (formats.md, storage).\n"}
        self.assertEqual(self.complaints("citations", good), [])
        self.expect("citations", {"lib/ir/a.cpp": "// Codes (formats.md, section\n// 3).\n"}, "no section 3")
        self.expect("citations", {"lib/ir/a.cpp": "// Codes (formats.md, rounding).\n"}, "no section 'rounding'")

    def test_a_link_that_leads_nowhere_is_found(self):
        self.assertEqual(self.complaints("citations", {"docs/a.md": "# A\n\n[x](formats.md#1-conventions)\n"}), [])
        self.expect("citations", {"docs/a.md": "# A\n\n[x](formats.md#9-end)\n"}, "docs/a.md:3", "#9-end")
        self.expect("citations", {"docs/a.md": "# A\n\n[x](images/no.svg)\n"}, "docs/a.md:3", "images/no.svg")

    def test_a_command_that_the_program_does_not_have_is_found(self):
        self.assertEqual(self.complaints("citations", {"docs/a.md": "# A\n\n`mase run x.pt --level float`\n"}), [])
        self.expect("citations", {"docs/a.md": "# A\n\n`mase walk x.pt`\n"}, "`mase walk`")
        self.expect(
            "citations", {"docs/a.md": "# A\n\n```sh\nmase run x.pt \\\n  --lvl float\n```\n"}, "no option --lvl"
        )
        self.expect("citations", {"lib/ir/a.cpp": "// What `mase run --lvl` takes.\n"}, "no option --lvl")

    def test_a_picture_of_another_table_is_found(self):
        self.expect("picture", {"docs/images/rooms.svg": PICTURE + "<title>old</title>\n"}, "shows old")
        missing = PICTURE.replace("<title>ir&#45;&gt;late</title>\n", "")
        self.expect("picture", {"docs/images/rooms.svg": missing}, "does not show ir->late")

    def test_a_wide_line_of_a_page_is_found(self):
        wide = "word " * 24 + "end."
        self.assertEqual(len(wide), 124)
        self.expect("prose", {"docs/a.md": f"# A\n\n{wide}\n"}, "docs/a.md:3", "124 columns")
        self.expect("prose", {"CONTRIBUTING.md": f"# C\n\n- {wide}\n"}, "CONTRIBUTING.md:3")
        as_code = f"# A\n\n```sh\n{wide}\n```\n\n| {wide} |\n|---|\n"
        self.assertEqual(self.complaints("prose", {"docs/a.md": as_code}), [])
        behind = f"# A\n\n```sh\necho\n```\n{wide}\n"
        self.expect("prose", {"docs/hardware/a.md": behind}, "docs/hardware/a.md:6")
        self.assertEqual(self.complaints("prose", {"docs/reference/a.md": wide}), [])

    def test_forms_of_sentences_that_nobody_says_are_found(self):
        for sentence, word in (
            ("It is exact. Of a row the largest is kept.", "begins with 'Of'"),
            ("- Of these, two are wide.", "begins with 'Of'"),
            ("Which is exact, and costs nothing.", "without its noun"),
            ("A grid, none where there is no format.", "none where"),
            ("One per layer; none for the last.", "; none"),
            ("Its value is none of the codes.", "is none of"),
            ("It is no multiple of eight.", "is no"),
            ("A width that is no integer is refused.", "is not a"),
            ("A multiple\nof two, none\nwhere it is odd.", "none where"),
        ):
            self.expect("prose", {"docs/a.md": f"# A\n\n{sentence}\n"}, word)
        for sentence in (
            "One of a row's elements is kept, and none of them twice.",
            "Which is the largest? None of the rows.",
            "The word `; none where` stands in code.",
            "There are two rows, none of them wide.",
            "There is no third row, and it is no longer than two.",
        ):
            self.assertEqual(self.complaints("prose", {"docs/a.md": f"# A\n\n{sentence}\n"}), [])

    def test_a_picture_of_another_source_is_found(self):
        source = 'digraph a { x [label="one\\ntwo"]; }'
        one, two, three = (f'<text x="1">{word}</text>' for word in ("one", "two", "three"))
        for drawn, complaint in ((one, "does not show two"), (one + two + three, "shows three")):
            files = {"docs/images/a.dot": source, "docs/images/a.svg": drawn}
            self.expect("picture", files, f"a.svg: {complaint}")

    def test_such_forms_are_found_in_comments(self):
        source = "// A.\n/// Of a row, in bits.\nint f();\n"
        self.expect("prose", {"lib/ir/a.cpp": source}, "lib/ir/a.cpp:2", "begins with 'Of'")
        self.expect("prose", {"scripts/a.py": "# A.\n# The row, none\n# where it is odd.\n"}, "scripts/a.py:2")
        code = '// A.\n///< a file; none: the default\nauto is = "no file";\n'
        self.assertEqual(self.complaints("prose", {"lib/ir/a.cpp": code}), [])

    def test_such_forms_are_found_in_messages(self):
        code = (
            """// The user's rows.\n/* is" */ auto quote = '"';\nvoid f() { fail(name + " is no "\n    "folder"); }\n"""
        )
        self.expect("prose", {"lib/ir/a.cpp": code}, "lib/ir/a.cpp:3", "say 'is not a")
        self.assertEqual(self.complaints("prose", {"tests/ir/a.cpp": code}), [])


if __name__ == "__main__":
    unittest.main()
