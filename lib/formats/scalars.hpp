// SPDX-License-Identifier: Apache-2.0
// Small pieces that the definitions of several formats share.
#pragma once

#include <limits>

namespace mase::formats {

constexpr float quiet_nan = std::numeric_limits<float>::quiet_NaN();

/// v within [low, high]; NaN stays NaN.
template <class T>
constexpr T clamped(T v, T low, T high) {
  if (v < low) return low;
  return v > high ? high : v;
}

}  // namespace mase::formats
