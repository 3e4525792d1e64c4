// SPDX-License-Identifier: Apache-2.0
// Elements several times.
#pragma once

#include <cstdint>

namespace mase::integer {

/// Every element `count` times: y[i] = x[i / count].
struct Repeat {
  std::int64_t count = 1;
};

}  // namespace mase::integer
