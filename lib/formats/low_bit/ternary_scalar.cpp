// SPDX-License-Identifier: Apache-2.0
// The definition of the ternary format for one element.
#include "formats/low_bit/ternary_scalar.hpp"

#include <cmath>
#include <limits>

#include "formats/low_bit/magnitudes.hpp"

namespace mase::formats {

double ternary_threshold(const TernarySpec& spec, std::span<const float> slice) {
  if (spec.threshold) return *spec.threshold;
  const double threshold = 0.75 * mean_magnitude(slice, spec.profile);
  return spec.profile == Profile::reference ? static_cast<float>(threshold) : threshold;
}

float float_threshold(double threshold) {
  constexpr float largest = std::numeric_limits<float>::max();
  if (threshold >= largest) return std::isinf(threshold) ? static_cast<float>(threshold) : largest;
  const auto nearest = static_cast<float>(threshold);
  return nearest > threshold ? std::nextafter(nearest, 0.0F) : nearest;
}

float ternary_scale(const TernarySpec& spec, std::span<const float> slice, double threshold) {
  if (!spec.scaled) return 1.0F;
  const float above = float_threshold(threshold);
  const bool has_limit = !std::isnan(above);
  return static_cast<float>(mean_magnitude_above(
      slice, has_limit ? above : std::numeric_limits<float>::infinity(), spec.profile));
}

int ternary_code(float x, double threshold) {
  if (x > threshold) return 1;
  return x < -threshold ? -1 : 0;
}

float ternary_value(int code, float alpha) { return static_cast<float>(code) * alpha + 0.0F; }

float quantize_ternary_scalar(const TernarySpec& spec, float x, double threshold, float alpha) {
  if (std::isnan(x) && spec.profile == Profile::exact) return x;
  return ternary_value(ternary_code(x, threshold), alpha);
}

kernels::ThreeWay ternary_three_way(const TernarySpec& spec, double threshold, float alpha) {
  const float above = float_threshold(threshold);
  return {above,
          -above,
          ternary_value(1, alpha),
          ternary_value(0, alpha),
          ternary_value(-1, alpha),
          spec.profile == Profile::exact};
}

}  // namespace mase::formats
