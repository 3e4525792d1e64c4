// SPDX-License-Identifier: Apache-2.0
// The definition of the integer formats for one element, in both profiles.
#include "formats/fixed/integer_scalar.hpp"
#include "formats/scalars.hpp"

#include <cmath>

namespace mase::formats {
namespace {

// The code as a number; NaN stays NaN, and -0 stays -0 at a limit of 0.
// x * 2^f is exact in double, since its exponent lies in [-275, 254].
double exact_code(const IntegerSpec& spec, float x, std::uint64_t index) {
  const double u =
      spec.rounding == Rounding::stochastic ? stochastic_offset(spec.seed, index) : 0.0;
  const double scaled = std::ldexp(static_cast<double>(x), spec.frac_width);
  return clamped(round_to_integer(scaled, spec.rounding, u), spec.low(), spec.high());
}

// Every line is a float32 operation of the reference system.
float reference_code(const IntegerSpec& spec, float x) {
  const float scale = std::ldexp(1.0F, spec.frac_width);
  const float scaled = x * scale;
  const float rounded =
      spec.rounding == Rounding::floor ? std::floor(scaled) : std::nearbyint(scaled);
  return clamped(rounded, static_cast<float>(spec.low()), static_cast<float>(spec.high()));
}

std::uint32_t low_bits(std::int64_t code, int width) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(code) &
                                    ((std::uint64_t{1} << width) - 1));
}

}  // namespace

double IntegerSpec::low() const { return is_signed ? -std::ldexp(1.0, width - 1) : 0.0; }
double IntegerSpec::high() const { return std::ldexp(1.0, is_signed ? width - 1 : width) - 1.0; }
double IntegerSpec::step() const { return std::ldexp(1.0, -frac_width); }

float quantize_integer_scalar(const IntegerSpec& spec, float x, std::uint64_t index) {
  if (spec.profile == Profile::reference)
    return reference_code(spec, x) / std::ldexp(1.0F, spec.frac_width);
  const double code = exact_code(spec, x, index);
  return code == 0.0 ? 0.0F : static_cast<float>(std::ldexp(code, -spec.frac_width));
}

std::uint32_t encode_integer_scalar(const IntegerSpec& spec, float x, std::uint64_t index) {
  const double code = spec.profile == Profile::reference
                          ? static_cast<double>(reference_code(spec, x))
                          : exact_code(spec, x, index);
  return low_bits(static_cast<std::int64_t>(code), spec.width);
}

float decode_integer_scalar(const IntegerSpec& spec, std::uint32_t code) {
  std::int64_t value = low_bits(code, spec.width);
  if (spec.is_signed && (value >> (spec.width - 1)) != 0) value -= std::int64_t{1} << spec.width;
  return static_cast<float>(std::ldexp(static_cast<double>(value), -spec.frac_width));
}

}  // namespace mase::formats
