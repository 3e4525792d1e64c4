// SPDX-License-Identifier: Apache-2.0
// Tables with a row for each class, of which a vocabulary has tens of thousands.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "passes/pass.hpp"

namespace mase::driver {

/// A row of such a table.
struct ClassRow {
  std::int64_t count;  ///< rows of the data that have this class
  std::vector<std::string> cells;
};

/// Gives `table` the rows. From more than a hundred it takes the hundred with the largest counts,
/// the largest first, and its title says so.
void add_class_rows(passes::ReportTable& table, std::vector<ClassRow> rows);

}  // namespace mase::driver
