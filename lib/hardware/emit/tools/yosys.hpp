// SPDX-License-Identifier: Apache-2.0
// The running of Yosys on an emitted folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "hardware/emit/families.hpp"
#include "hardware/emit/tools/yosys_stat.hpp"

namespace mase::emit {

struct Synthesised {
  design::Cost cost;
  std::optional<std::int64_t> depth;  ///< levels of logic on the longest path
  std::optional<LongestPath> path;    ///< none for families without delays
};

/// Synthesises module `top`, which is among the folder's sources or is the text `extra`, for a
/// family; the netlist goes to the file `netlist` where one is given. Error(Fault::file) with the
/// tool's own message when it is missing or fails.
Synthesised run_yosys(const std::string& hardware_folder, const Family& family,
                      const std::string& top, const std::string& extra,
                      const std::string& netlist = "");

}  // namespace mase::emit
