// SPDX-License-Identifier: Apache-2.0
// Products that take elements and the exponents of their blocks.
#pragma once

#include "hardware/integer/program.hpp"

namespace mase::integer {

/// Gives products whose input is elements shifted by the exponents of their blocks the two streams
/// in its place: they multiply elements, and shift sums. Steps that nothing reads any more go.
void multiply_blocks(Program& program);

}  // namespace mase::integer
