// SPDX-License-Identifier: Apache-2.0
// Whole-number arithmetic that handshake models and costs share.
#pragma once

#include <bit>
#include <cstdint>

namespace mase::design {

/// The quotient of numbers that are not negative, rounded up.
inline std::int64_t ceiling(std::int64_t value, std::int64_t divisor) {
  return (value + divisor - 1) / divisor;
}

/// Bits that count `value` states; 0 for one state or none.
inline int log2_ceiling(std::int64_t value) {
  return value < 2 ? 0 : std::bit_width(static_cast<std::uint64_t>(value - 1));
}

}  // namespace mase::design
