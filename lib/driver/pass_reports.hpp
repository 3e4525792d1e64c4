// SPDX-License-Identifier: Apache-2.0
// Shows what a pass found: text and tables on stdout, CSV files and JSON.
#pragma once

#include <string>

#include "driver/output.hpp"
#include "passes/runner.hpp"

namespace mase::driver {

/// Prints text, tables and notes (as warnings) of a pass, and writes its tables below `folder`.
void show_report(const passes::PassReport& report, const std::string& folder, bool timing,
                 Output& output);

Tree report_tree(const passes::PassReport& report, bool timing);

}  // namespace mase::driver
