// SPDX-License-Identifier: Apache-2.0
// The definition of the microscaling formats for one element of one block: slow, in double, and
// obviously right (formats.md, sections 3 and 4: mxint, mxfp, mxint_hardware).
#pragma once

#include <cstdint>
#include <optional>

#include "formats/minifloat/minifloat_scalar.hpp"
#include "formats/rounding.hpp"
#include "formats/scale_rule.hpp"

namespace mase::formats {

/// How the exponent X of a block is stored.
enum class MxScale : std::uint8_t {
  e8m0,    ///< X + 2^(bits-1) - 1; all ones means that the whole block is NaN
  offset,  ///< X + 2^(bits-1), every code a number
};

/// All parameters of a microscaling format, resolved.
struct MxSpec {
  int width = 8;                           ///< bits of one element
  std::optional<MinifloatSpec> minifloat;  ///< its element; none: a two's complement integer
  MxScale scale = MxScale::e8m0;
  int scale_bits = 8;
  ScaleRule rule = ScaleRule::floor;
  Rounding rounding = Rounding::nearest_even;
  Profile profile = Profile::exact;
  std::uint64_t seed = 0;

  int bias() const;              ///< of the stored scale
  int lowest_exponent() const;   ///< of X: what code 0 stands for
  int highest_exponent() const;  ///< of X: the largest that is stored
  bool has_nan() const { return scale == MxScale::e8m0; }
  std::uint32_t nan_code() const { return (std::uint32_t{1} << scale_bits) - 1; }
  /// Integer elements are M * 2^-fraction_bits() before scaling (`exact`).
  int fraction_bits() const { return width - 2; }
  double limit() const;  ///< largest integer M (`exact`): 2^(width-1) - 1
  ElementTop top() const;
};

/// The exponent of a block, from its largest magnitude `p`: NaN when the block holds a NaN,
/// infinite when it holds an infinity (`offset` scales in `exact` take it over finite elements). No
/// value: the whole block is NaN. `reference`: before the range of the stored code is applied to
/// mxint.
std::optional<int> mx_block_exponent(const MxSpec& spec, float p);

/// Fake quantization of one element in a block of this exponent, rounded to float32: infinite where
/// the scaled element exceeds float32. NaN stays NaN.
float quantize_mx_scalar(const MxSpec& spec, float x, int exponent, std::uint64_t index);

/// The element's code in the low `width` bits. x must not be NaN.
std::uint32_t encode_mx_scalar(const MxSpec& spec, float x, int exponent, std::uint64_t index);

/// The code of a block's exponent in the low `scale_bits` bits; no value: the NaN code.
std::uint32_t mx_scale_code(const MxSpec& spec, std::optional<int> exponent);

/// Profile `exact`: the value of an element's code before it is scaled, and what a scale code
/// multiplies it by, or NaN.
double mx_element(const MxSpec& spec, std::uint32_t code);
double mx_factor(const MxSpec& spec, std::uint32_t scale_code);

/// The value of an element's code under a scale code, rounded to float32.
float decode_mx_scalar(const MxSpec& spec, std::uint32_t code, std::uint32_t scale_code);

}  // namespace mase::formats
