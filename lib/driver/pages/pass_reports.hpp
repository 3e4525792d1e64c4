// SPDX-License-Identifier: Apache-2.0
// Shows what a pass found: text and tables on stdout, CSV files and JSON.
#pragma once

#include <string>

#include "driver/output.hpp"
#include "passes/runner.hpp"

namespace mase::driver {

/// How much of a pass is printed.
struct Detail {
  bool quiet = false;    ///< nothing of a pass that only changes the graph
  bool verbose = false;  ///< everything, even if the pass has a headline
  bool timing = false;   ///< the time that the pass took, too
};

/// Prints what a pass found, and its notes as warnings, and writes its tables below `folder`.
void show_report(const passes::PassReport& report, const std::string& folder, const Detail& detail,
                 Output& output);

/// All that a pass found: its text and its tables under its name.
std::string report_text(const passes::PassReport& report, bool timing);

Tree report_tree(passes::PassReport report, bool timing);

}  // namespace mase::driver
