// SPDX-License-Identifier: Apache-2.0
// Modules from the module table, what their files say of them with its defaults, and parameters
// from the fields of their structs.
#include "driver/pages/module_list.hpp"

#include <algorithm>

#include "base/file.hpp"
#include "base/text.hpp"
#include "driver/pages/field_tree.hpp"
#include "hardware/design/module_table.hpp"

namespace mase::driver {
namespace {

/// The lines of its file up to its ports.
std::vector<std::string> head_of(const design::ModuleRow& row) {
  const std::string path = "/hw_templates/" + row.folder + "/" + row.name + ".sv";
  std::vector<std::string> lines = split(read_file(share_folder() + path), '\n');
  lines.erase(std::ranges::find(lines, ") ("), lines.end());
  return lines;
}

/// The comment at the head of the file, behind the line of the licence.
std::string comment_of(const std::vector<std::string>& head) {
  std::string text;
  for (std::size_t i = 1; i < head.size() && !head[i].starts_with("module"); ++i)
    if (head[i].starts_with("//"))
      text += head[i].substr(std::min<std::size_t>(3, head[i].size())) + "\n";
  return text;
}

/// What the file gives a parameter that is not given.
std::string default_of(const std::string& parameter, const std::vector<std::string>& head) {
  const std::string declared = " " + parameter + " = ";
  for (const std::string& line : head)
    if (const std::size_t at = line.find(declared);
        at != std::string::npos && line.starts_with("    parameter "))
      return line.substr(at + declared.size(), line.find_first_of(",/", at) - at - declared.size());
  return "";
}

Tree parameters_tree(const design::ModuleRow& row, const std::vector<std::string>& head) {
  std::vector<FieldInfo> fields = row.parameters ? row.parameters() : std::vector<FieldInfo>{};
  for (FieldInfo& field : fields) {
    if (field.type == "bool") field.type = "0 or 1";
    field.default_value = default_of(field.name, head);
  }
  return fields_tree(fields);
}

}  // namespace

Tree module_entries() {
  Tree out = Tree::list();
  for (const design::ModuleRow& row : design::module_table()) {
    const std::vector<std::string> head = head_of(row);
    Tree entry = Tree::dict();
    entry["name"] = row.name;
    entry["folder"] = row.folder;
    entry["inputs"] = Tree::list_of(row.inputs);
    entry["outputs"] = Tree::list_of(row.outputs);
    entry["uses"] = Tree::list_of(row.uses);
    entry["doc"] = row.doc;
    entry["description"] = comment_of(head);
    entry["parameters"] = parameters_tree(row, head);
    out.push_back(std::move(entry));
  }
  return out;
}

}  // namespace mase::driver
