// SPDX-License-Identifier: Apache-2.0
// The definition of the minifloats for one element, in both profiles.
#include "formats/minifloat/minifloat_scalar.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "formats/minifloat/reference_log2.hpp"

namespace mase::formats {
namespace {

int top_code(const MinifloatSpec& spec) { return (1 << spec.exponent_width) - 1; }

// The value that a magnitude above the largest becomes.
double overflow(const MinifloatSpec& spec, double x) {
  double magnitude = spec.largest();
  if (!spec.saturate && spec.specials == Specials::ieee)
    magnitude = std::numeric_limits<double>::infinity();
  if (!spec.saturate && spec.specials == Specials::fn)
    magnitude = std::numeric_limits<double>::quiet_NaN();
  return std::copysign(magnitude, x);
}

// The exponent of the grid's step at a finite x other than 0.
int step_exponent(const MinifloatSpec& spec, double x) {
  return std::max(std::ilogb(x), spec.lowest_exponent()) - spec.fraction_bits();
}

// From here to quantize_reference, every operation on floats is one of the reference system, where
// an exponent is a float32 too.
float reference_exponent(const MinifloatSpec& spec, float magnitude) {
  const float logarithm = reference_log2(magnitude + reference_epsilon);
  return std::clamp(spec.hidden_bit ? std::floor(logarithm) : std::ceil(logarithm),
                    static_cast<float>(-spec.exponent_bias),
                    static_cast<float>(top_code(spec) - spec.exponent_bias));
}

// clamp(rne(scaled), 0, 2^m - 1) / 2^m, where `unit` is 2^m.
float reference_fraction(float scaled, float unit) {
  return std::clamp(std::nearbyint(scaled), 0.0F, unit - 1.0F) / unit;
}

// The factor of 2^E. `scaled` is (|x| / 2^E) * 2^m.
float reference_significand(const MinifloatSpec& spec, float scaled, float unit, bool is_lowest) {
  if (!spec.hidden_bit) return reference_fraction(scaled, unit);
  if (is_lowest) return 2.0F * reference_fraction(scaled / 2.0F, unit);
  return 1.0F + reference_fraction(scaled - unit, unit);
}

float quantize_reference(const MinifloatSpec& spec, float x) {
  if (std::isnan(x)) return x;
  const float exponent = reference_exponent(spec, std::abs(x));
  const float power = std::ldexp(1.0F, static_cast<int>(exponent));
  const auto unit = static_cast<float>(1 << spec.mantissa_bits());
  const bool is_lowest = exponent == static_cast<float>(-spec.exponent_bias);
  const float significand =
      reference_significand(spec, (std::abs(x) / power) * unit, unit, is_lowest);
  const float lifted = x + reference_epsilon;
  const float sign = lifted > 0.0F ? 1.0F : lifted < 0.0F ? -1.0F : 0.0F;
  return reference_mix(x, (sign * power) * significand);
}

std::uint32_t nan_code(const MinifloatSpec& spec) {
  MASE_CHECK(spec.specials != Specials::none, "a minifloat without a code for NaN");
  const int m = spec.mantissa_bits();
  if (spec.specials == Specials::fn) return (std::uint32_t{1} << (spec.width - 1)) - 1;
  return (static_cast<std::uint32_t>(top_code(spec)) << m) | (std::uint32_t{1} << (m - 1));
}

// The code without its sign. In units of the step, a value on the grid is an integer; with a hidden
// bit, its leading one adds 1 to an exponent code of 0.
std::uint32_t magnitude_code(const MinifloatSpec& spec, double value) {
  const int m = spec.mantissa_bits();
  if (std::isnan(value)) return nan_code(spec);
  if (std::isinf(value)) {
    MASE_CHECK(spec.specials == Specials::ieee, "a minifloat without a code for infinity");
    return static_cast<std::uint32_t>(top_code(spec)) << m;
  }
  if (value == 0.0) return 0;
  const int step = step_exponent(spec, value);
  const int above_lowest = step + spec.fraction_bits() - spec.lowest_exponent();
  return (static_cast<std::uint32_t>(above_lowest) << m) +
         static_cast<std::uint32_t>(std::ldexp(std::abs(value), -step));
}

double special_value(const MinifloatSpec& spec, int exponent_code, int fraction) {
  if (spec.specials == Specials::ieee && exponent_code == top_code(spec))
    return fraction == 0 ? std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  const bool all_ones =
      exponent_code == top_code(spec) && fraction == (1 << spec.mantissa_bits()) - 1;
  return spec.specials == Specials::fn && all_ones ? std::numeric_limits<double>::quiet_NaN() : 0.0;
}

}  // namespace

int MinifloatSpec::top_exponent() const {
  const int top = (1 << exponent_width) - 1 - exponent_bias;
  return hidden_bit && specials != Specials::ieee ? top : top - 1;
}

double MinifloatSpec::largest() const {
  // In units of the step below it: all ones, or one less when all ones means NaN.
  const double ones = std::ldexp(1.0, fraction_bits() + 1) - 1.0;
  return std::ldexp(specials == Specials::fn ? ones - 1.0 : ones, top_exponent() - fraction_bits());
}

double quantize_minifloat_exact(const MinifloatSpec& spec, double x, std::uint64_t index) {
  if (std::isnan(x) || x == 0.0) return x;
  if (std::isinf(x)) return overflow(spec, x);
  const double u =
      spec.rounding == Rounding::stochastic ? stochastic_offset(spec.seed, index) : 0.0;
  const int step = step_exponent(spec, x);
  const double rounded = std::ldexp(round_to_integer(std::ldexp(x, -step), spec.rounding, u), step);
  return std::abs(rounded) > spec.largest() ? overflow(spec, x) : std::copysign(rounded, x);
}

float quantize_minifloat_scalar(const MinifloatSpec& spec, float x, std::uint64_t index) {
  if (spec.profile == Profile::reference) return quantize_reference(spec, x);
  return static_cast<float>(quantize_minifloat_exact(spec, static_cast<double>(x), index));
}

std::uint32_t minifloat_code(const MinifloatSpec& spec, double value) {
  const std::uint32_t sign = std::signbit(value) ? std::uint32_t{1} << (spec.width - 1) : 0;
  return sign | magnitude_code(spec, value);
}

double minifloat_value(const MinifloatSpec& spec, std::uint32_t code) {
  const int m = spec.mantissa_bits();
  const int exponent_code = static_cast<int>(code >> m) & top_code(spec);
  const int fraction = static_cast<int>(code) & ((1 << m) - 1);
  double magnitude = special_value(spec, exponent_code, fraction);
  if (magnitude == 0.0) {
    const bool normal = spec.hidden_bit && exponent_code != 0;
    const int exponent = spec.hidden_bit && exponent_code == 0 ? 1 : exponent_code;
    magnitude = std::ldexp((normal ? 1 << m : 0) + fraction, exponent - spec.exponent_bias - m);
  }
  return (code >> (spec.width - 1)) & 1 ? -magnitude : magnitude;
}

}  // namespace mase::formats
