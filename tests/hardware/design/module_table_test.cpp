// SPDX-License-Identifier: Apache-2.0
// The module table, the files of hw_templates and the page of modules say the same.
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>

#include "base/file.hpp"
#include "hardware/design/module_table.hpp"
#include "hardware/design/modules/linear.hpp"
#include "hardware/design/modules/requantisation.hpp"
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

/// A parameter as a module's file declares it.
struct Declared {
  std::string name, value;
};

/// Those of a module that an instance may set, without what follows from others.
std::vector<Declared> declared_parameters(const ModuleRow& row) {
  const std::string file = read_file(templates + "/" + row.folder + "/" + row.name + ".sv");
  const std::string head = file.substr(0, file.find("\n) ("));
  static const std::regex declaration(R"(parameter (?:[^=\n]* )?([A-Z_0-9]+) *= *([^,\n/]+))");
  static const std::regex other(R"(\b[A-Z][A-Z_0-9]*\b)");
  std::vector<Declared> found;
  for (std::sregex_iterator at(head.begin(), head.end(), declaration), end; at != end; ++at) {
    const std::string value = (*at)[2];
    if (!std::regex_search(value, other)) found.push_back({(*at)[1], value});
  }
  return found;
}

/// A default of a field or of a file: 'false' and '0 are 0, 64'sd127 is 127. Wide fields have
/// hexadecimal digits, as 9'h101 has.
std::string plain_value(std::string text) {
  std::erase(text, '"');
  std::erase(text, ' ');
  if (text == "false" || text == "true") return text == "true" ? "1" : "0";
  return std::regex_replace(text, std::regex("[0-9]*'(sd|d|h)?"), "");
}

std::set<std::string> names_of(const std::vector<Declared>& parameters) {
  std::set<std::string> names;
  for (const Declared& parameter : parameters) names.insert(parameter.name);
  return names;
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

TEST_CASE("the page of the modules has each of them with its parameters") {
  const std::string text = read_file(MASE_SOURCE_FOLDER "/docs/reference/modules.md");
  for (const ModuleRow& row : module_table()) {
    INFO(row.name);
    const std::size_t begin = text.find("\n## " + row.name + "\n");
    REQUIRE(begin != std::string::npos);
    const std::string section = text.substr(begin, text.find("\n## ", begin + 1) - begin);
    for (const FieldInfo& field : row.parameters ? row.parameters() : std::vector<FieldInfo>{})
      CHECK(section.find("| `" + field.name + "` |") != std::string::npos);
  }
}

TEST_CASE("where a host writes images is printed last, in the order of the addresses") {
  LinearModule linear;
  linear.bias_base = 0;
  linear.weight_base = 16;
  const ModuleParameters parameters = Module(linear)->parameters();
  CHECK(parameters.back().first == "WEIGHT_BASE");
  CHECK(std::prev(parameters.end(), 2)->first == "BIAS_BASE");
  linear.weight_base = std::nullopt;
  CHECK(Module(linear)->parameters().back().first == "BIAS_BASE");
}

TEST_CASE("the fields of a module are the parameters that its file declares, with their defaults") {
  std::vector<std::string> shared = field_names<Requantisation>();  // differ by module
  shared.push_back("WW");                                           // of Operands
  std::size_t compared = 0;
  for (const ModuleRow& row : module_table()) {
    if (!row.parameters) continue;
    INFO(row.name);
    const std::vector<FieldInfo> fields = row.parameters();
    const std::vector<Declared> declared = declared_parameters(row);
    std::set<std::string> names;
    for (const FieldInfo& field : fields) {
      INFO(field.name);
      CHECK(names.insert(field.name).second);
      CHECK_FALSE(field.doc.empty());
      const auto same = std::ranges::find(declared, field.name, &Declared::name);
      if (same == declared.end() || field.optional) continue;
      if (std::ranges::count(shared, field.name) > 0) continue;
      CHECK(plain_value(field.default_value) == plain_value(same->value));
      ++compared;
    }
    CHECK(names == names_of(declared));
  }
  CHECK(compared > 0);
}

}  // namespace mase::design
