// SPDX-License-Identifier: Apache-2.0
// The definition of integers with a scale per row, for one element (formats.md, sections 2 and
// 4).
#pragma once

#include <cstdint>
#include <span>

#include "formats/rounding.hpp"
#include "formats/seed.hpp"

namespace mase::formats {

/// All parameters, resolved.
struct ScaleIntegerSpec {
  int width = 8;
  bool is_signed = true;
  Rounding rounding = Rounding::nearest_even;
  Profile profile = Profile::exact;
  Seed seed{};
  bool all_codes = false;  ///< of two's complement, the least one among them

  double high() const;  ///< largest code: 2^(width-1) - 1, or 2^width - 1 when unsigned
  double low() const;   ///< smallest: -high or 0; -2^(width-1) with all codes and in `reference`
  float largest_step() const;  ///< the largest Delta for which RN32(high * Delta) is finite
};

/// The largest finite |x|; in `reference` the largest of all |x|, or NaN when there is a NaN.
float row_peak(std::span<const float> row, Profile profile);

/// The row's stored scale. `exact`: the step Delta = RN32(P / high), or 1 for a row of zeros; at
/// most largest_step(), so that finite values stay finite, and at least
/// the smallest float32 when P / high is less. `reference`: 2^(width-1) / (P + 1e-9) in float32
/// (2^width when unsigned), the factor before rounding.
float row_scale(const ScaleIntegerSpec& spec, float peak);

/// The code as a number. `exact`: clamp(rnd(x / Delta)) with the quotient in double, which up to a
/// width of 28 decides all ties right. `reference`: clamp(rne(x * s)) in float32. NaN stays NaN.
double scale_integer_code(const ScaleIntegerSpec& spec, float x, float scale, std::uint64_t index);

/// The value of a code. `exact`: RN32(code * Delta), never -0. `reference`: code / s in float32.
float scale_integer_value(const ScaleIntegerSpec& spec, double code, float scale);

/// Fake quantization of one element; `index` counts elements of the tensor (stochastic only).
float quantize_scale_integer_scalar(const ScaleIntegerSpec& spec, float x, float scale,
                                    std::uint64_t index);

}  // namespace mase::formats
