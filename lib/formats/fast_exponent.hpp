// SPDX-License-Identifier: Apache-2.0
// The exponents of blocks by integer arithmetic on doubles, for every magnitude.
#pragma once

#include <bit>
#include <cstdint>

namespace mase::formats {

/// scale_exponent (scale_rule.hpp), clamped to low .. high, without branches: the exponent field of
/// a double after an addition that carries into it when the rule rounds up. (The field of 0 is 0,
/// far below every code.)
struct FastExponent {
  int low = 0, high = 0;
  int offset = 1023;
  std::uint64_t carry = 0;
  double divisor = 0;  ///< for rceil, the largest element; otherwise 0

  /// (A constant function, so that threads of a GPU can call it.)
  constexpr int of(float p) const {
    auto value = static_cast<double>(p);
    if (divisor != 0) value = static_cast<double>(static_cast<float>(value / divisor));
    const auto field = static_cast<int>((std::bit_cast<std::uint64_t>(value) + carry) >> 52);
    const int exponent = field - offset;
    return exponent < low ? low : exponent > high ? high : exponent;
  }
};

/// 2^exponent, rounded to float32, for exponents of doubles.
constexpr float double_power(int exponent) {
  return static_cast<float>(
      std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52));
}

}  // namespace mase::formats
