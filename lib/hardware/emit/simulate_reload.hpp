// SPDX-License-Identifier: Apache-2.0
// The running of the AXI wrapper's bench with weights that the host's driver loads.
#pragma once

#include <cstdint>
#include <string>

#include "hardware/design/design.hpp"
#include "hardware/emit/simulate.hpp"

namespace mase::emit {

/// What the bench of the AXI wrapper found.
struct ReloadSimulation {
  bool passed = false;
  std::string text;  ///< a line for each set of weights
};
/// Runs the frames of the folder, loads the weights of `design` through AXI4-Lite, runs `vectors`,
/// and loads the folder's own weights again. Without stalls the cycles are compared, too.
ReloadSimulation simulate_reload(const std::string& hardware_folder, const design::Design& design,
                                 const Vectors& vectors, double stall, std::uint64_t seed);

}  // namespace mase::emit
