// SPDX-License-Identifier: Apache-2.0
// Small pieces that the definitions of several formats share.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace mase::formats {

constexpr float quiet_nan = std::numeric_limits<float>::quiet_NaN();

/// v clamped to [low, high]; NaN stays NaN.
template <class T>
constexpr T clamped(T v, T low, T high) {
  if (v < low) return low;
  return v > high ? high : v;
}

/// 2^exponent in float32; 0 or infinity beyond its range. (Bits are faster than a call of ldexp.)
inline float float_power(int exponent) {
  if (exponent < -126 || exponent > 127) return std::ldexp(1.0F, exponent);
  return std::bit_cast<float>(static_cast<std::uint32_t>(exponent + 127) << 23);
}

}  // namespace mase::formats
