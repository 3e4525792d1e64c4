// SPDX-License-Identifier: Apache-2.0
// Parts of a stream.
#pragma once

#include <cstdint>

namespace mase::integer {

/// Elements [first, first + count) of every `period` of them, which divides the frame.
struct Slice {
  std::int64_t first = 0, count = 0, period = 1;
};

}  // namespace mase::integer
