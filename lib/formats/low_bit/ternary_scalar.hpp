// SPDX-License-Identifier: Apache-2.0
// The definition of the ternary format for one element (formats.md, sections 2 and 4).
#pragma once

#include <optional>
#include <span>

#include "formats/low_bit/three_way_kernel.hpp"
#include "formats/rounding.hpp"

namespace mase::formats {

/// All parameters of a ternary format, resolved.
struct TernarySpec {
  bool scaled = false;              ///< multiply by alpha, the mean |x| above the threshold
  std::optional<double> threshold;  ///< without it, 0.75 of the slice's mean magnitude
  Profile profile = Profile::exact;
};

/// The threshold of a slice as a double; in `reference` it is a float32 number.
double ternary_threshold(const TernarySpec& spec, std::span<const float> slice);

/// The largest float32 that is not above `threshold`; the same float32 numbers lie above both.
float float_threshold(double threshold);

/// The scale of a slice: 1 when not scaled.
float ternary_scale(const TernarySpec& spec, std::span<const float> slice, double threshold);

/// The code of an element: -1, 0 or 1; NaN gives 0.
int ternary_code(float x, double threshold);

/// The value of -1, 0 or 1. Never -0 for finite alpha.
float ternary_value(int code, float alpha);

/// Fake quantization of one element. NaN stays NaN in `exact`; in `reference` it has the code 0.
float quantize_ternary_scalar(const TernarySpec& spec, float x, double threshold, float alpha);

/// The same as values and limits for kernels.
kernels::ThreeWay ternary_three_way(const TernarySpec& spec, double threshold, float alpha);

}  // namespace mase::formats
