// SPDX-License-Identifier: Apache-2.0
// Maxima and sums over windows.
#pragma once

#include "hardware/integer/window.hpp"

namespace mase::integer {

/// Maximum or sum over each window, channel by channel. An average is a sum whose Requantise
/// divides. Padding never wins a maximum and adds 0 to a sum.
struct Pool {
  PoolKind kind = PoolKind::max;
  Window window;
};

}  // namespace mase::integer
