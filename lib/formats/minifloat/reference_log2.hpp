// SPDX-License-Identifier: Apache-2.0
// What the element formats of profile `reference` share: the float32 logarithm of the reference
// system and its sum for the zeros of a tensor (formats.md, section 4).
#pragma once

#include <vector>

namespace mase::formats {

constexpr float reference_epsilon = 1e-9F;  ///< added before logarithms and signs
constexpr float reference_tiny = 1e-8F;     ///< magnitudes up to here pass through unchanged

/// RN32(log2 v).
float reference_log2(float v);

/// n * q + z * x with z = 1 where |x| <= reference_tiny, else 0, and n = 1 - z: infinities become
/// NaN.
float reference_mix(float x, float q);

/// The float32 values at which round(RN32(log2 v)), for a rounding to integers such as std::floor,
/// becomes low + 1, low + 2, ..., high: entry i is the smallest v >= 0 whose rounded logarithm is
/// at least low + 1 + i; infinity where only that reaches it. So low + (number of entries <= v) is
/// the rounded logarithm clamped to [low, high], without any logarithm.
std::vector<float> reference_log2_thresholds(float (*round)(float), int low, int high);

}  // namespace mase::formats
