// SPDX-License-Identifier: Apache-2.0
// The definition of the microscaling formats for one element of one block.
#include "formats/microscaling/mx_scalar.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "formats/microscaling/mx_reference.hpp"
#include "formats/scalars.hpp"

namespace mase::formats {
namespace {

std::uint32_t low_bits(double number, int width) {
  return static_cast<std::uint32_t>(static_cast<std::int64_t>(number)) &
         ((std::uint32_t{1} << width) - 1);
}

double signed_value(std::uint32_t code, int width) {
  const double value = low_bits(code, width);
  return value < std::ldexp(1.0, width - 1) ? value : value - std::ldexp(1.0, width);
}

// Scaling is exact in double: exponents lie in [-149 - 127, 127 + 141].
double scaled(float x, int exponent) { return std::ldexp(static_cast<double>(x), exponent); }

double exact_integer(const MxSpec& spec, float x, int exponent, std::uint64_t index) {
  const double u =
      spec.rounding == Rounding::stochastic ? stochastic_offset(spec.seed, index) : 0.0;
  const double m = round_to_integer(scaled(x, spec.fraction_bits() - exponent), spec.rounding, u);
  return std::clamp(m, -spec.limit(), spec.limit());
}

double exact_minifloat(const MxSpec& spec, float x, int exponent, std::uint64_t index) {
  return quantize_minifloat_exact(*spec.minifloat, scaled(x, -exponent), index);
}

float exact_value(const MxSpec& spec, double element, int exponent) {
  const int shift = spec.minifloat ? exponent : exponent - spec.fraction_bits();
  const auto value = static_cast<float>(std::ldexp(element, shift));
  return spec.minifloat || value != 0.0F ? value : 0.0F;
}

}  // namespace

int MxSpec::bias() const { return (1 << (scale_bits - 1)) - (scale == MxScale::e8m0 ? 1 : 0); }
int MxSpec::lowest_stored() const { return -bias(); }
int MxSpec::highest_stored() const { return (1 << (scale_bits - 1)) - 1; }
double MxSpec::limit() const { return std::ldexp(1.0, width - 1) - 1.0; }

ElementTop MxSpec::top() const {
  if (minifloat)
    return {minifloat->top_exponent(), minifloat->mantissa_bits(), minifloat->largest()};
  return {0, fraction_bits(), std::ldexp(limit(), -fraction_bits())};
}

std::optional<int> mx_block_exponent(const MxSpec& spec, float p) {
  if (spec.profile == Profile::reference) return reference_mx_exponent(spec, p);
  if (!std::isfinite(p)) return std::nullopt;
  if (p == 0.0F) return spec.lowest_exponent();
  return std::clamp(scale_exponent(spec.rule, spec.top(), p), spec.lowest_exponent(),
                    spec.highest_exponent());
}

float quantize_mx_scalar(const MxSpec& spec, float x, int exponent, std::uint64_t index) {
  if (std::isnan(x)) return quiet_nan;
  if (spec.profile == Profile::reference) {
    const int stored = reference_mx_stored(spec, exponent);
    if (spec.minifloat)
      return reference_mx_minifloat_value(spec, reference_mx_minifloat(spec, x, exponent), stored);
    return reference_mx_integer_value(spec, reference_mx_integer(spec, x, exponent), stored);
  }
  const double element = spec.minifloat ? exact_minifloat(spec, x, exponent, index)
                                        : exact_integer(spec, x, exponent, index);
  return exact_value(spec, element, exponent);
}

std::uint32_t encode_mx_scalar(const MxSpec& spec, float x, int exponent, std::uint64_t index) {
  if (spec.profile == Profile::reference)
    return spec.minifloat ? reference_mx_minifloat(spec, x, exponent)
                          : low_bits(reference_mx_integer(spec, x, exponent), spec.width);
  if (spec.minifloat)
    return minifloat_code(*spec.minifloat, exact_minifloat(spec, x, exponent, index));
  return low_bits(exact_integer(spec, x, exponent, index), spec.width);
}

std::uint32_t mx_scale_code(const MxSpec& spec, std::optional<int> exponent) {
  if (!exponent) {
    MASE_CHECK(spec.has_nan(), "a block of NaN under a scale without a NaN code");
    return spec.nan_code();
  }
  const int stored =
      spec.profile == Profile::reference ? reference_mx_stored(spec, *exponent) : *exponent;
  return static_cast<std::uint32_t>(stored + spec.bias());
}

float decode_mx_scalar(const MxSpec& spec, std::uint32_t code, std::uint32_t scale_code) {
  const int exponent = static_cast<int>(scale_code) - spec.bias();
  const bool all_numbers = spec.profile == Profile::reference && spec.scale_bits < 8;
  if (spec.has_nan() && scale_code == spec.nan_code() && !all_numbers) return quiet_nan;
  if (spec.profile == Profile::reference)
    return spec.minifloat ? reference_mx_minifloat_value(spec, code, exponent)
                          : reference_mx_integer_value(
                                spec, static_cast<float>(signed_value(code, spec.width)), exponent);
  return exact_value(spec, mx_element(spec, code), exponent);
}

double mx_element(const MxSpec& spec, std::uint32_t code) {
  return spec.minifloat ? minifloat_value(*spec.minifloat, code) : signed_value(code, spec.width);
}

double mx_factor(const MxSpec& spec, std::uint32_t scale_code) {
  if (spec.has_nan() && scale_code == spec.nan_code()) return quiet_nan;
  const int exponent = static_cast<int>(scale_code) - spec.bias();
  return std::ldexp(1.0, spec.minifloat ? exponent : exponent - spec.fraction_bits());
}

}  // namespace mase::formats
