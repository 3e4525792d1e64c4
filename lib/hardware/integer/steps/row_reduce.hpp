// SPDX-License-Identifier: Apache-2.0
// Maxima and sums of rows.
#pragma once

#include <cstdint>

#include "hardware/integer/window.hpp"

namespace mase::integer {

/// Maximum or sum of every `row` elements.
struct RowReduce {
  PoolKind kind = PoolKind::max;
  std::int64_t row = 1;
};

}  // namespace mase::integer
