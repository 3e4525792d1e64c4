// SPDX-License-Identifier: Apache-2.0
// The definition of the integers with a scale per row, in both profiles.
#include "formats/fixed/scale_integer_scalar.hpp"
#include "formats/scalars.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mase::formats {
namespace {

double exact_code(const ScaleIntegerSpec& spec, float x, float step, std::uint64_t index) {
  const double u =
      spec.rounding == Rounding::stochastic ? stochastic_offset(spec.seed, index) : 0.0;
  const double quotient = static_cast<double>(x) / static_cast<double>(step);
  return clamped(round_to_integer(quotient, spec.rounding, u), spec.low(), spec.high());
}

}  // namespace

double ScaleIntegerSpec::high() const {
  return std::ldexp(1.0, is_signed ? width - 1 : width) - 1.0;
}

double ScaleIntegerSpec::low() const {
  if (!is_signed) return 0.0;
  return all_codes || profile == Profile::reference ? -high() - 1.0 : -high();
}

float ScaleIntegerSpec::largest_step() const {
  constexpr float largest = std::numeric_limits<float>::max();
  const auto step = static_cast<float>(static_cast<double>(largest) / high());
  const bool is_finite = std::isfinite(static_cast<float>(high() * static_cast<double>(step)));
  return is_finite ? step : std::nextafter(step, 0.0F);
}

float row_peak(std::span<const float> row, Profile profile) {
  float peak = 0;
  for (const float value : row) {
    const float magnitude = std::fabs(value);
    if (profile == Profile::reference && std::isnan(value)) return value;
    if (std::isfinite(magnitude) || (profile == Profile::reference && !std::isnan(magnitude)))
      peak = std::max(peak, magnitude);
  }
  return peak;
}

float row_scale(const ScaleIntegerSpec& spec, float peak) {
  if (spec.profile == Profile::reference)
    return static_cast<float>(spec.high() + 1.0) / (peak + 1e-9F);
  if (peak == 0.0F) return 1.0F;
  const auto step = static_cast<float>(static_cast<double>(peak) / spec.high());
  return std::clamp(step, std::numeric_limits<float>::denorm_min(), spec.largest_step());
}

double scale_integer_code(const ScaleIntegerSpec& spec, float x, float scale, std::uint64_t index) {
  if (spec.profile == Profile::exact) return exact_code(spec, x, scale, index);
  const float rounded = std::nearbyint(x * scale);
  return clamped(rounded, static_cast<float>(spec.low()), static_cast<float>(spec.high()));
}

float scale_integer_value(const ScaleIntegerSpec& spec, double code, float scale) {
  if (spec.profile == Profile::reference) return static_cast<float>(code) / scale;
  return code == 0.0 ? 0.0F : static_cast<float>(code * static_cast<double>(scale));
}

float quantize_scale_integer_scalar(const ScaleIntegerSpec& spec, float x, float scale,
                                    std::uint64_t index) {
  return scale_integer_value(spec, scale_integer_code(spec, x, scale, index), scale);
}

}  // namespace mase::formats
