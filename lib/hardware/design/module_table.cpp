// SPDX-License-Identifier: Apache-2.0
// The module table, put together from its families.
#include "hardware/design/module_table.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "hardware/design/modules/argmax.hpp"
#include "hardware/design/modules/pool.hpp"
#include "hardware/design/modules/reduce.hpp"
#include "hardware/design/modules/row_reduce.hpp"
#include "hardware/design/modules/window.hpp"
#include "hardware/design/modules/window_parallel.hpp"

namespace mase::design {

std::vector<ModuleRow> window_modules() {
  return {
      {.name = "mase_window_memory", .folder = "window", .doc = "memory of the windows"},
      {.name = "mase_window_pick",
       .folder = "window",
       .doc = "windows of one pixel",
       .uses = {"mase_skid"}},
      WindowModule::row(),
      WindowParallelModule::row(),
      PoolModule::row(),
      ReduceModule::row(),
      RowReduceModule::row(),
      ArgmaxModule::row(),
  };
}

const std::vector<ModuleRow>& module_table() {
  static const std::vector<ModuleRow> table = [] {
    std::vector<ModuleRow> rows;
    for (auto family : {plumbing_modules, elementwise_modules, matrix_modules, window_modules})
      for (const ModuleRow& row : family()) rows.push_back(row);
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

const ModuleRow& row_of(const Instance& instance) {
  return instance.own ? *instance.own : module_row(instance.module);
}

}  // namespace mase::design
