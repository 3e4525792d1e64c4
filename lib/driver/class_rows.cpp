// SPDX-License-Identifier: Apache-2.0
// Leaves the rare classes out.
#include "driver/class_rows.hpp"

#include <algorithm>
#include <functional>

namespace mase::driver {
namespace {

/// Nobody reads more rows than this on a terminal.
constexpr std::size_t most_rows = 100;

}  // namespace

void add_class_rows(passes::ReportTable& table, std::vector<ClassRow> rows) {
  if (rows.size() > most_rows) {
    table.title += ", the " + std::to_string(most_rows) + " largest of " +
                   std::to_string(rows.size()) + " (--json has all)";
    std::ranges::stable_sort(rows, std::greater(), &ClassRow::count);
    rows.resize(most_rows);
  }
  for (ClassRow& row : rows) table.rows.push_back(std::move(row.cells));
}

}  // namespace mase::driver
