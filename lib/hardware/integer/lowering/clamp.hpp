// SPDX-License-Identifier: Apache-2.0
// Clamping of streams.
#pragma once

#include "hardware/integer/lowering/call.hpp"

namespace mase::integer {

/// The stream clamped to [low, high], real numbers that may be infinite, on the node's grid.
Operand clamp_between(const Call& call, const StreamView& x, double low, double high);

}  // namespace mase::integer
