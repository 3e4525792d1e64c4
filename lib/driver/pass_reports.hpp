// SPDX-License-Identifier: Apache-2.0
// What a pass found, as text and tables on stdout, CSV files and JSON.
#pragma once

#include <string>

#include "driver/output.hpp"
#include "passes/runner.hpp"

namespace mase::driver {

/// Prints a pass's text and tables and writes the tables' files below `folder`; notes are warnings.
void show_report(const passes::PassReport& report, const std::string& folder, bool timing,
                 Output& output);

Tree report_tree(const passes::PassReport& report, bool timing);

}  // namespace mase::driver
