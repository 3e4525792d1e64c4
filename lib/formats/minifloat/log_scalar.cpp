// SPDX-License-Identifier: Apache-2.0
// The definition of the logarithmic format for one element, in both profiles.
#include "formats/minifloat/log_scalar.hpp"

#include <algorithm>
#include <cmath>

#include "formats/minifloat/reference_log2.hpp"

namespace mase::formats {
namespace {

// The exponent of a finite x other than 0, before it is clamped.
std::int64_t rounded_exponent(const LogSpec& spec, double x, std::uint64_t index) {
  const int below = std::ilogb(x);
  const double significand = std::ldexp(std::abs(x), -below);  // in [1, 2)
  switch (spec.rounding) {
    case Rounding::floor:
      return x < 0.0 && significand != 1.0 ? below + 1 : below;
    case Rounding::stochastic:
      return below - 1 +
             static_cast<int>(
                 round_to_integer(significand, spec.rounding, stochastic_offset(spec.seed, index)));
    case Rounding::nearest_even:
    case Rounding::nearest_away:
      // The largest double below sqrt(2).
      return significand > 0x1.6a09e667f3bccp0 ? below + 1 : below;
  }
  return below;
}

// True when x becomes the format's zero, or the smallest positive value in a format without zero.
bool is_flushed(const LogSpec& spec, double x) {
  // The smallest magnitude may be below double's range, so 0 is a separate case.
  if (x == 0.0) return true;
  if (spec.rounding == Rounding::floor) return x >= 0.0 && x < power_of_two(spec.lowest_exponent());
  return spec.has_zero() && std::abs(x) <= power_of_two(spec.lowest_exponent() - 1);
}

}  // namespace

std::int64_t LogSpec::lowest_exponent() const {
  return (has_zero() ? std::int64_t{1} : std::int64_t{0}) - exponent_bias;
}

std::int64_t LogSpec::highest_exponent() const {
  return (std::int64_t{1} << (width - 1)) - 1 - exponent_bias;
}

double power_of_two(std::int64_t exponent) {
  return std::ldexp(1.0, static_cast<int>(std::clamp<std::int64_t>(exponent, -2000, 2000)));
}

double quantize_log_exact(const LogSpec& spec, double x, std::uint64_t index) {
  if (std::isnan(x)) return x;
  const std::int64_t lowest = spec.lowest_exponent(), highest = spec.highest_exponent();
  if (is_flushed(spec, x)) return spec.has_zero() ? 0.0 : power_of_two(lowest);
  const std::int64_t exponent = std::isinf(x) ? highest : rounded_exponent(spec, x, index);
  return std::copysign(power_of_two(std::clamp(exponent, lowest, highest)), x);
}

// Every operation is a float32 operation of the reference system.
float quantize_log_reference(const LogSpec& spec, float x, float zeta) {
  if (std::isnan(x)) return x;
  const float exponent = std::clamp(std::nearbyint(reference_log2(std::abs(x) + zeta)),
                                    static_cast<float>(spec.lowest_exponent()),
                                    static_cast<float>(spec.highest_exponent()));
  const float lifted = x + zeta;
  const float sign = lifted > 0.0F ? 1.0F : lifted < 0.0F ? -1.0F : 0.0F;
  return sign * static_cast<float>(power_of_two(static_cast<std::int64_t>(exponent)));
}

float log_zeta(const LogSpec& spec) {
  return static_cast<float>(0.1 * power_of_two(-std::int64_t{spec.exponent_bias}));
}

float quantize_log_scalar(const LogSpec& spec, float x, std::uint64_t index) {
  if (spec.profile == Profile::reference) return quantize_log_reference(spec, x, log_zeta(spec));
  return static_cast<float>(quantize_log_exact(spec, static_cast<double>(x), index));
}

std::uint32_t log_code(const LogSpec& spec, double value) {
  const std::uint32_t sign = std::signbit(value) ? std::uint32_t{1} << (spec.width - 1) : 0;
  if (value == 0.0) return 0;
  const std::int64_t lowest = spec.lowest_exponent(), highest = spec.highest_exponent();
  const std::int64_t exponent =
      std::isinf(value) ? highest : std::clamp<std::int64_t>(std::ilogb(value), lowest, highest);
  return sign | static_cast<std::uint32_t>(exponent + spec.exponent_bias);
}

double log_value(const LogSpec& spec, std::uint32_t code) {
  const std::uint32_t sign = std::uint32_t{1} << (spec.width - 1);
  const std::uint32_t exponent_code = code & (sign - 1);
  if (spec.has_zero() && exponent_code == 0) return 0.0;
  const double magnitude = power_of_two(std::int64_t{exponent_code} - spec.exponent_bias);
  return (code & sign) != 0 ? -magnitude : magnitude;
}

}  // namespace mase::formats
