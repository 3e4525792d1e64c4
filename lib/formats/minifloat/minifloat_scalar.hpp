// SPDX-License-Identifier: Apache-2.0
// The definition of the minifloats for one element: slow, in double, and obviously correct. Block
// formats quantize their elements by it (formats.md, sections 2 and 4).
#pragma once

#include <cstdint>

#include "formats/rounding.hpp"
#include "formats/seed.hpp"

namespace mase::formats {

/// Which codes of the top exponent are not numbers.
enum class Specials : std::uint8_t {
  none,  ///< all codes are numbers
  ieee,  ///< top exponent: infinity and NaN
  fn,    ///< only all ones is NaN; there is no infinity
};

/// All parameters of a minifloat, resolved: sign, exponent_width bits of exponent, width -
/// exponent_width - 1 bits of fraction.
struct MinifloatSpec {
  int width = 8;
  int exponent_width = 4;
  int exponent_bias = 7;
  Specials specials = Specials::none;
  bool saturate = true;
  Rounding rounding = Rounding::nearest_even;
  Profile profile = Profile::exact;
  Seed seed{};
  /// False for minifloat_denorm, whose fraction has no leading one: 2^(c - bias) * M / 2^m.
  bool hidden_bit = true;

  int mantissa_bits() const { return width - exponent_width - 1; }
  int top_exponent() const;  ///< emax: exponent of the largest value
  double largest() const;    ///< the largest finite value

  // The values as a grid: a value with exponent E >= lowest_exponent() is a multiple of
  // 2^(E - fraction_bits()), a smaller one of 2^(lowest_exponent() - fraction_bits()). Without a
  // hidden bit, the first of the m bits takes its place.
  int fraction_bits() const { return hidden_bit ? mantissa_bits() : mantissa_bits() - 1; }
  int lowest_exponent() const { return hidden_bit ? 1 - exponent_bias : -1 - exponent_bias; }
};

/// Fake quantization of one element, given as a double since blocks scale exactly first. NaN stays
/// NaN. `exact` only; the result is a value of the format, not rounded to float32.
double quantize_minifloat_exact(const MinifloatSpec& spec, double x, std::uint64_t index);

/// Fake quantization of one float32 in either profile, rounded to float32.
float quantize_minifloat_scalar(const MinifloatSpec& spec, float x, std::uint64_t index);

/// The code, in the low `width` bits, of a value that the format has, as quantize_minifloat_exact
/// returns it. NaN gives the canonical NaN code with its sign (an internal error when the format
/// has no NaN).
std::uint32_t minifloat_code(const MinifloatSpec& spec, double value);

/// The value of a code.
double minifloat_value(const MinifloatSpec& spec, std::uint32_t code);

}  // namespace mase::formats
