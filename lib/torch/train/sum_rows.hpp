// SPDX-License-Identifier: Apache-2.0
// Sums in a fixed order.
#pragma once

#include <c10/core/ScalarType.h>

#include <cstddef>

namespace mase::train {

/// `count` rows of `bytes` bytes each, `stride` bytes apart.
struct Rows {
  const std::byte* first = nullptr;
  std::size_t count = 0, stride = 0, bytes = 0;
};

/// Writes the sums of the columns, ((row 0 + row 1) + row 2) + ..., of floats or doubles.
void sum_rows(c10::ScalarType type, const Rows& rows, std::byte* into);

}  // namespace mase::train
