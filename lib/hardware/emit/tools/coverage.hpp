// SPDX-License-Identifier: Apache-2.0
// Summary of a Verilator coverage data file.
#pragma once

#include <string>

#include "base/tree.hpp"

namespace mase::emit {

/// Points, how many of them were hit and how often all of them, by kind ("line", "branch",
/// "toggle") and module: {"line": {"points": n, "hit": m, "times": t}, ..., "modules":
/// {"mase_skid": {"line": {...}}}}. A point of kind toggle is a bit of a signal. The bench's own
/// module is left out. Error(Fault::file) when the file is damaged.
Tree summarise_coverage(const std::string& text);

}  // namespace mase::emit
