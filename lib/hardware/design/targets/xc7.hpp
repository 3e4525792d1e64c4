// SPDX-License-Identifier: Apache-2.0
// What was fitted for Xilinx 7: costs, to what Yosys 0.23 counts (synth_xilinx -family xc7 -noiopad
// -noclkbuf -flatten); and delays of speed grade 1, which are those of Yosys's cells and have no
// wires in them.
#pragma once

#include "hardware/design/clock.hpp"

namespace mase::design {

inline constexpr Technology xc7_delays{
    .name = "xc7",
    .grade = "speed grade 1",
    .basis = "before routing",
    .lut_inputs = 6,
    .block_bits = 32768,
    .adds_in_blocks = true,
    .from_logic = 0.36,
    .from_memory = 0.9,
    .from_multiplier = 1.82,
    .lut = 0.42,
    .chain = 0.6,
    .carry = 0.025,
    .cascade = 1.02,
    .wires_of = "ecp5",
    .rom_bit = 0.5,
};

}  // namespace mase::design
