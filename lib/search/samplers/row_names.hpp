// SPDX-License-Identifier: Apache-2.0
// Fields whose allowed values are the names of a table's rows.
#pragma once

#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/field.hpp"

namespace mase::samplers {

/// Returns the field with the names as choices. They must outlive it, as in a static table.
template <class Struct, class T>
Field<Struct, T> one_of_names(Field<Struct, T> field, const std::vector<std::string_view>& names) {
  FieldRules& rules = field.rules;
  for (const std::string_view name : names) {
    MASE_CHECK(rules.choice_count < rules.choices.size(), "a field has room for 24 choices");
    rules.choices[rules.choice_count++] = name;
  }
  return field;
}

}  // namespace mase::samplers
