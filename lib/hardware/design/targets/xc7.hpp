// SPDX-License-Identifier: Apache-2.0
// What was fitted for Xilinx 7: costs, to what Yosys 0.23 counts (synth_xilinx -family xc7 -noiopad
// -noclkbuf -flatten); and delays of speed grade 1, which are those of Yosys's cells and have no
// wires in them.
#pragma once

#include "hardware/design/clock.hpp"
#include "hardware/design/targets/fitted_costs.hpp"

namespace mase::design {

/// `scripts/bench/calibrate.py` compares: see FittedCosts.
inline constexpr FittedCosts xc7_costs{
    .choice_bit = 1.75,
    .comparison_bit = 0.75,
    .constant_comparison_bit = 0.25,
    .threshold_carry_bit = 0.11,
    .counter_bit = 1.3,

    .table_choice = 1.4,  // among eight LUTs it is MUXF7 and MUXF8
    .table_choice_share = 6,
    .reload = 4,
    .reload_piece = 1.2,
    .embedding_counter_bit = 1.0,

    .product_bit = 2.0,
    .float_product_bit = 2.7,
    .float_shift_bit = 0.77,
    .float_exponent_bit = 2.26,
    .float_number_shift_bit = 1.2,
    .decode_bit = {1.0, 1.3, 3.2},
    .two_words = 0.52,
    .two_words_booth = 0.9,
    .marks = 7,
    .known = {0, 1.2, 3.4, 5.8, 12.8},
    .known_registers = 2.5,
    .known_carry = 1.75,
    .matrix_address_bit = 2.0,

    .shifter = {0.0, 0.93, 1.15, 2.0, 2.45},
    .long_shifter = 0.6,
    .block_rest_bit = 0.25,
    .leading = {0.0, 0.93, 2.3, 4.6},

    .queue_bit = 4.5,
    .queue = -1,
    .short_queue_bit = 4.0,
    .short_queue = 4,
    .gather_bit = 0.5,
    .gather = 10,
    .regroup_bit = 1.6,

    .distance_bit = 0.25,
    .ring_address_bit = 1.63,
    .window_counter_bit = 2.2,
    .window = 15,
    .padded_window = 22,
    .zero_bit = 0.5,
    .maximum_bit = 0.85,
    .kept_maximum_bit = 1.4,
    .kept_maximum = 4,
};

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
