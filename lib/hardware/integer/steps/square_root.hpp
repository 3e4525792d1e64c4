// SPDX-License-Identifier: Apache-2.0
// Whole parts of square roots.
#pragma once

#include <cstdint>

#include "hardware/integer/fixed.hpp"

namespace mase::integer {

/// The whole part of sqrt((x << shift) + addend), for x that is not negative.
struct SquareRoot {
  int shift = 0;
  std::int64_t addend = 0;

  Wide operator()(Wide x) const;
};

}  // namespace mase::integer
