// SPDX-License-Identifier: Apache-2.0
// The quotient of two streams.
#pragma once

#include <cmath>

#include "hardware/integer/lowering/call.hpp"

namespace mase::integer {

/// a / b of two streams of one shape and order, rounded once to the grid of the result. `most`: no
/// quotient is larger.
StreamView divide(const Call& call, const StreamView& a, const StreamView& b,
                  double most = HUGE_VAL);

/// The step that divides codes of these types, and its accumulator, which rounds to the quotient of
/// a type, or of a grid.
struct DivideStep {
  Divide operation;
  Accumulator accumulator;
};
DivideStep divide_step(const FixedType& a, const FixedType& b, const FixedType& to);
DivideStep divide_step(const FixedType& a, const FixedType& b, const Grid& to,
                       double most = HUGE_VAL);

}  // namespace mase::integer
