// Predicted cost of the window family on xc7.
#pragma once

#include "hardware/design/design.hpp"

namespace mase::design {

/// Structure times coefficients fitted to Yosys 0.23, `synth_xilinx -family xc7 -flatten`, over
/// realistic shapes. LUT RAM counts as the LUTs it takes up (four for a RAM32M or RAM64M).
Cost window_cost(const Design& design, const Instance& instance);
Cost window_parallel_cost(const Design& design, const Instance& instance);
Cost pool_cost(const Design& design, const Instance& instance);
Cost reduce_cost(const Design& design, const Instance& instance);

}  // namespace mase::design
