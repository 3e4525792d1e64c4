// SPDX-License-Identifier: Apache-2.0
// The definition of the microscaling formats for one element of one block: slow, in double, and
// obviously correct (formats.md, sections 3 and 4: mxint, mxfp, mxint_hardware).
#pragma once

#include <cstdint>
#include <optional>

#include "formats/minifloat/minifloat_scalar.hpp"
#include "formats/rounding.hpp"
#include "formats/scale_rule.hpp"
#include "formats/seed.hpp"

namespace mase::formats {

/// How the exponent X of a block is stored.
enum class MxScale : std::uint8_t {
  e8m0,    ///< X + 2^(bits-1) - 1; all ones means that the whole block is NaN
  offset,  ///< X + 2^(bits-1); every code is a number
};

/// All parameters of a microscaling format, resolved.
struct MxSpec {
  int width = 8;                           ///< bits of one element
  std::optional<MinifloatSpec> minifloat;  ///< the element; nullopt: a two's complement integer
  MxScale scale = MxScale::e8m0;
  int scale_bits = 8;
  std::optional<int> exponent_min, exponent_max;  ///< nullopt: what the stored scale holds
  ScaleRule rule = ScaleRule::floor;
  Rounding rounding = Rounding::nearest_even;
  Profile profile = Profile::exact;
  Seed seed{};

  int bias() const;            ///< bias of the stored scale
  int lowest_stored() const;   ///< the lowest X that a code stands for, which is code 0
  int highest_stored() const;  ///< the largest X that a code stands for
  /// The range to which X of a block is clamped, also of a block of zeros.
  int lowest_exponent() const { return exponent_min.value_or(lowest_stored()); }
  int highest_exponent() const { return exponent_max.value_or(highest_stored()); }
  bool has_nan() const { return scale == MxScale::e8m0; }
  std::uint32_t nan_code() const { return (std::uint32_t{1} << scale_bits) - 1; }
  /// Integer elements are M * 2^-fraction_bits() before scaling (`exact`).
  int fraction_bits() const { return width - 2; }
  double limit() const;  ///< largest integer M (`exact`): 2^(width-1) - 1
  ElementTop top() const;
};

/// The exponent of a block from its largest magnitude `p`, which is NaN when the block has a NaN,
/// and infinite when it has an infinity (`offset` scales in `exact` take it over finite elements).
/// Returns nullopt when the whole block is NaN. `reference`: mxint is not yet clamped to the range
/// of the stored code.
std::optional<int> mx_block_exponent(const MxSpec& spec, float p);

/// Fake quantization of one element in a block with this exponent, rounded to float32: infinite
/// when the scaled element exceeds float32. NaN stays NaN.
float quantize_mx_scalar(const MxSpec& spec, float x, int exponent, std::uint64_t index);

/// The element's code in the low `width` bits. x must not be NaN.
std::uint32_t encode_mx_scalar(const MxSpec& spec, float x, int exponent, std::uint64_t index);

/// The code of a block's exponent in the low `scale_bits` bits; the NaN code for nullopt.
std::uint32_t mx_scale_code(const MxSpec& spec, std::optional<int> exponent);

/// Profile `exact`: the value of an element's code before scaling, and the factor that a scale code
/// stands for, which may be NaN.
double mx_element(const MxSpec& spec, std::uint32_t code);
double mx_factor(const MxSpec& spec, std::uint32_t scale_code);

/// The value of an element's code under a scale code, rounded to float32.
float decode_mx_scalar(const MxSpec& spec, std::uint32_t code, std::uint32_t scale_code);

}  // namespace mase::formats
