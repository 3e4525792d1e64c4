// SPDX-License-Identifier: Apache-2.0
// The module table: all modules, and below them the parts of others.
#include "hardware/design/module_table.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "hardware/design/modules/all.hpp"

namespace mase::design {

const std::vector<ModuleRow>& module_table() {
  static const std::vector<ModuleRow> table = [] {
    std::vector<ModuleRow> rows;
    for (const Listed& listed : all_modules())
      if (listed.row) rows.push_back(listed.row());
    for (ModuleRow& part : module_parts()) rows.push_back(std::move(part));
    return rows;
  }();
  return table;
}

const ModuleRow& module_row(std::string_view name) {
  const auto& table = module_table();
  const auto it = std::find_if(table.begin(), table.end(),
                               [&](const ModuleRow& row) { return row.name == name; });
  MASE_CHECK(it != table.end(), "no hardware module " + std::string(name));
  return *it;
}

const std::string& Module::name() const { return held_->row().name; }

}  // namespace mase::design
