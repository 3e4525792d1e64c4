// SPDX-License-Identifier: Apache-2.0
// Places of maxima.
#pragma once

#include <cstdint>

namespace mase::integer {

/// The place of the largest of every `row` elements, the first one where several are equal.
struct ArgMax {
  std::int64_t row = 1;
};

}  // namespace mase::integer
