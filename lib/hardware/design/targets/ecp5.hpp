// SPDX-License-Identifier: Apache-2.0
// What was fitted for ECP5: delays of what nextpnr places at speed grade 6.
// `scripts/bench/clock/clock.py place` places networks, and `fit` prints the delays and the spread
// that they ask for.
#pragma once

#include "hardware/design/clock.hpp"

namespace mase::design {

inline constexpr Technology ecp5_delays{
    .name = "ecp5",
    .grade = "speed grade 6",
    .basis = "placed",
    .lut_inputs = 4,
    .from_logic = 0.5,
    .from_memory = 3.52,
    .from_multiplier = 0.9,
    .lut = 0.587,
    .chain = 1.03,
    .carry = 0.0267,
    .readers = 0.407,
    .extent = 0.291,
    .far = 0.306,
    .blocks = 1.22,
    .spread = 0.14,
    // Parts of a path, which `fit` takes as they are; `table` compares what follows from them.
    .rom_bit = 0.5,
    .ways = {.products = 0.5,
             .direct_products = 1.2,
             .enable = 0.9,
             .weights = 0.4,
             .staged_weights = 0.3,
             .staged_operands = 0.6,
             .kept_operands = 1.5},
};

}  // namespace mase::design
