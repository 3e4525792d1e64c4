// SPDX-License-Identifier: Apache-2.0
// Reads and writes names of columns.
#include "data/column_names.hpp"

#include "base/text.hpp"

namespace mase::data {

bool ColumnNames::read_field(const Tree& tree, std::string_view key, const FieldRules& rules,
                             Diagnostics& diagnostics) {
  names.clear();
  if (field_detail::is_none(tree)) return true;
  const bool one = tree.is_string();
  if (!one && (!tree.is_list() || tree.size() == 0)) {
    field_detail::wrong_type(tree, key, field_type(), diagnostics);
    return false;
  }
  return field_detail::read_value(one ? Tree(Tree::List{tree}) : tree, key, rules, names,
                                  diagnostics);
}

Tree ColumnNames::write_field() const {
  if (!is_set()) return Tree("NA");
  return names.size() == 1 ? Tree(names.front()) : field_detail::write_value(names);
}

std::vector<std::string> ColumnNames::list() const {
  return names.size() == 1 ? mase::split(names.front(), ',') : names;
}

std::string ColumnNames::text() const { return join(names, ","); }

}  // namespace mase::data
