// SPDX-License-Identifier: Apache-2.0
// Streams one after the other.
#pragma once

#include <cstdint>

namespace mase::integer {

/// Inputs in turn, `rows` times in a frame: elements / rows of each.
struct Concat {
  std::int64_t rows = 1;
};

}  // namespace mase::integer
