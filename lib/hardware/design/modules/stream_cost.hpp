// Predicted cost of the plumbing and elementwise families on xc7.
#pragma once

#include "hardware/design/design.hpp"

namespace mase::design {

/// Registers follow from the structure. LUTs are structure times coefficients fitted to Yosys 0.23,
/// `synth_xilinx -family xc7 -noiopad -noclkbuf -flatten`, over widths, depths and ratios. LUT RAM
/// counts as the LUTs it takes up (four for a RAM32M or RAM64M).
Cost skid_cost(const Design& design, const Instance& instance);
Cost fifo_cost(const Design& design, const Instance& instance);
Cost fork_cost(const Design& design, const Instance& instance);
Cost resize_cost(const Design& design, const Instance& instance);
Cost concat_cost(const Design& design, const Instance& instance);
Cost slice_cost(const Design& design, const Instance& instance);
Cost cast_cost(const Design& design, const Instance& instance);
Cost lookup_cost(const Design& design, const Instance& instance);
Cost binary_cost(const Design& design, const Instance& instance);
Cost scale_shift_cost(const Design& design, const Instance& instance);

}  // namespace mase::design
