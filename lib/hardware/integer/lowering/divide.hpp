// SPDX-License-Identifier: Apache-2.0
// The quotient of two streams.
#pragma once

#include "hardware/integer/lowering/call.hpp"

namespace mase::integer {

/// a / b of two streams of one shape and order, rounded once to the grid of the result.
StreamView divide(const Call& call, const StreamView& a, const StreamView& b);

/// The step that divides codes of these types, and its accumulator, which rounds to the quotient of
/// a type.
struct DivideStep {
  Divide operation;
  Accumulator accumulator;
};
DivideStep divide_step(const FixedType& a, const FixedType& b, const FixedType& to);

}  // namespace mase::integer
