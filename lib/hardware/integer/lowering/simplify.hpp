// SPDX-License-Identifier: Apache-2.0
// Fewer steps for the same program.
#pragma once

#include "hardware/integer/program.hpp"

namespace mase::integer {

/// Merges casts and clamps into the steps that make their inputs and drops steps nobody reads.
void simplify(Program& program);

}  // namespace mase::integer
