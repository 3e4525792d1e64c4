// SPDX-License-Identifier: Apache-2.0
// An option of names, such as columns of a table.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/field.hpp"

namespace mase::data {

/// One name or a list of names; empty if it is not set ("NA"). On the command line, which has no
/// lists, the names are one text with commas.
struct ColumnNames {
  std::vector<std::string> names{};

  bool read_field(const Tree& tree, std::string_view key, const FieldRules& rules,
                  Diagnostics& diagnostics);
  Tree write_field() const;
  static std::string field_type() { return "string or list of strings"; }
  bool is_set() const { return !names.empty(); }
  /// The names as one text: "a,b".
  std::string text() const;
  /// The names, those of a single text with commas apart.
  std::vector<std::string> list() const;
};

}  // namespace mase::data
