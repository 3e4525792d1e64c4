// SPDX-License-Identifier: Apache-2.0
// The reference system's logarithm, and the places where its rounded value changes.
#include "formats/minifloat/reference_log2.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>

namespace mase::formats {
namespace {

// The smallest float32 v >= 0 with round(RN32(log2 v)) >= exponent. Bit patterns of floats that are
// not negative are ordered like their values, and the logarithm is monotone.
float threshold(float (*round)(float), int exponent) {
  std::uint32_t below = 0, at = 0x7f800000;  // bits of 0 (logarithm -infinity) and of infinity
  while (at - below > 1) {
    const std::uint32_t middle = below + (at - below) / 2;
    const bool reached =
        round(reference_log2(std::bit_cast<float>(middle))) >= static_cast<float>(exponent);
    (reached ? at : below) = middle;
  }
  return std::bit_cast<float>(at);
}

}  // namespace

RoundedLog2::RoundedLog2(float (*round)(float)) {
  const std::vector<float> thresholds = reference_log2_thresholds(round, lowest - 1, 128);
  for (std::size_t i = 0; i + 1 < thresholds.size(); ++i) {
    const Normal next = Normal::of(thresholds[i + 1]);
    if (next.exponent() > lowest + static_cast<int>(i)) continue;  // not in this binade
    carries_[i] = static_cast<std::int32_t>(unit - (next.bits & (unit - 1)));
  }
  find_window();
}

// Adding a carry c makes fractions from unit - c on reach the next exponent.
void RoundedLog2::find_window() {
  const auto binades = std::span(carries_).subspan(-126 - lowest, 254);
  const auto [least, most] = std::ranges::minmax(binades);
  carries_[common] = least;
  carries_[first] = static_cast<std::int32_t>(unit) - most;
  carries_[window] = most - least;
}

const RoundedLog2& floored_log2() {
  static const RoundedLog2 log2(std::floor);
  return log2;
}

const RoundedLog2& ceiled_log2() {
  static const RoundedLog2 log2(std::ceil);
  return log2;
}

const RoundedLog2& nearest_log2() {
  static const RoundedLog2 log2(std::nearbyint);
  return log2;
}

float reference_log2(float v) { return static_cast<float>(std::log2(static_cast<double>(v))); }

float reference_mix(float x, float q) {
  const float kept = std::abs(x) <= reference_tiny ? 1.0F : 0.0F;
  return (1.0F - kept) * q + kept * x;
}

std::vector<float> reference_log2_thresholds(float (*round)(float), int low, int high) {
  std::vector<float> thresholds;
  for (int exponent = low + 1; exponent <= high; ++exponent)
    thresholds.push_back(threshold(round, exponent));
  return thresholds;
}

}  // namespace mase::formats
