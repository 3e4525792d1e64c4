// SPDX-License-Identifier: Apache-2.0
// What Yosys counts of an emitted folder.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "hardware/design/cost.hpp"
#include "hardware/design/design.hpp"
#include "hardware/emit/tools/yosys_stat.hpp"

namespace mase::emit {

/// Measured resources, total and per instance.
struct Synthesis {
  std::string family;  ///< "xc7", "ice40", "ecp5"
  design::Cost total;
  std::map<std::string, design::Cost> instances;
  std::optional<std::int64_t> logic_depth;
  std::optional<LongestPath> path;  ///< before routing
  double seconds = 0;
};
/// Yosys on the emitted folder.
Synthesis synthesise(const std::string& hardware_folder, const design::Design& design,
                     const std::string& family, bool per_instance);

}  // namespace mase::emit
