// SPDX-License-Identifier: Apache-2.0
// The module table, the files of hw_templates and the table of its README say the same.
#include <catch2/catch.hpp>

#include <filesystem>
#include <set>

#include "base/file.hpp"
#include "hardware/design/module_table.hpp"
#include "test_paths.hpp"

namespace mase::design {
namespace {

namespace fs = std::filesystem;

const std::string templates = MASE_SOURCE_FOLDER "/hw_templates";

/// "folder/module" of every SystemVerilog file but those of the bench, which are no hardware.
std::set<std::string> module_files() {
  std::set<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(templates))
    if (entry.path().extension() == ".sv" && entry.path().parent_path().filename() != "bench")
      found.insert(fs::relative(entry.path(), templates).replace_extension().string());
  return found;
}

}  // namespace

TEST_CASE("every module has a row, and every row a file") {
  std::set<std::string> rows;
  for (const ModuleRow& row : module_table()) {
    INFO(row.name);
    CHECK(rows.insert(row.folder + "/" + row.name).second);
    for (const std::string& family : row.families)
      CHECK(rows.insert(family + "/" + row.name).second);
    CHECK_FALSE(row.doc.empty());
    for (const std::string& part : row.uses) CHECK(module_row(part).name == part);
  }
  CHECK(rows == module_files());
}

TEST_CASE("the README of the modules names each of them") {
  const std::string text = read_file(templates + "/README.md");
  for (const ModuleRow& row : module_table()) {
    INFO(row.name);
    CHECK(text.find("`" + row.name + "`") != std::string::npos);
  }
}

}  // namespace mase::design
