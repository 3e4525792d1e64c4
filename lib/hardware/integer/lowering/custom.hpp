// SPDX-License-Identifier: Apache-2.0
// Lowering of ops of the user's own.
#pragma once

#include "hardware/integer/lowering/call.hpp"

namespace mase::integer {

/// Ops of the user's own.
Operand lower_custom(const Call& call);

}  // namespace mase::integer
