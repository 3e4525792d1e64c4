// SPDX-License-Identifier: Apache-2.0
// The definition of the integer formats for one element: slow, in double, and obviously correct.
// Kernels and TorchScript expressions are tested against it (formats.md, sections 2 and 4).
#pragma once

#include <cstdint>

#include "formats/rounding.hpp"
#include "formats/seed.hpp"

namespace mase::formats {

/// All parameters of an integer grid, resolved. Its values are c * 2^-frac_width for codes c in
/// [low(), high()].
struct IntegerSpec {
  int width = 8;
  int frac_width = 4;
  bool is_signed = true;
  Rounding rounding = Rounding::nearest_even;
  Profile profile = Profile::exact;
  Seed seed{};

  double low() const;   ///< -2^(width-1), or 0 when unsigned
  double high() const;  ///< 2^(width-1) - 1, or 2^width - 1 when unsigned
  double step() const;  ///< 2^-frac_width
};

/// Fake quantization of one element. `index` counts elements of the tensor (stochastic only).
/// `exact`: RN32(clamp(rnd(x * 2^f), low, high) * 2^-f), never -0; infinite when that exceeds
/// float32. `reference`: the same in float32 operations, with limits rounded to float32; keeps -0.
float quantize_integer_scalar(const IntegerSpec& spec, float x, std::uint64_t index);

/// The code of one element in the low `width` bits (two's complement when signed). x must not be
/// NaN. `reference`: the clamped float32 modulo 2^width, so the rounded upper limit of widths above
/// 25 wraps, as in the reference system.
std::uint32_t encode_integer_scalar(const IntegerSpec& spec, float x, std::uint64_t index);

/// The value of a code, rounded once to float32. Bits above `width` are ignored.
float decode_integer_scalar(const IntegerSpec& spec, std::uint32_t code);

}  // namespace mase::formats
