// SPDX-License-Identifier: Apache-2.0
// Rounds one vector to signed powers of two (the format log, profile exact), for whole tensors and
// for blocks that have been scaled.
#pragma once

#include "formats/minifloat/log_kernel.hpp"
#include "simd/simd.hpp"

namespace mase::formats::kernels {
namespace {

using simd::Simd;

/// Fake quantization by a format for which fits_float32 holds; same bits as quantize_log_scalar.
template <Rounding rounding>
struct OnLogGrid {
  using Vec = Simd::Vec;
  using Bits = Simd::Bits;
  Vec highest, lowest, flush, below, zero;
  Bits sign, exponent, round_up;

  MASE_SIMD static OnLogGrid of(const LogGrid& grid) {
    return {Simd::all(grid.highest),
            Simd::all(grid.lowest),
            Simd::all(grid.flush),
            Simd::all(grid.below),
            Simd::all(0.0F),
            Simd::all_bits(static_cast<std::int32_t>(0x80000000)),
            Simd::all_bits(0x7f800000),
            Simd::all_bits(grid.round_up)};
  }

  static constexpr bool draws = rounding == Rounding::stochastic;

  /// `u` are the offsets of stochastic rounding; other roundings have none.
  template <class... Offset>
  MASE_SIMD Vec operator()(Vec x, Offset... u) const {
    const Bits sign_of_x = Simd::and_bits(Simd::bits(x), sign);
    // The highest power is on the grid, so everything beyond it rounds to that power.
    const Vec magnitude =
        Simd::min(highest, Simd::floats(Simd::xor_bits(Simd::bits(x), sign_of_x)));
    const Vec power = Simd::max(Simd::floats(rounded(x, magnitude, u...)), lowest);
    const Vec value = flushed(x, magnitude, signed_by(power, sign_of_x));
    // Adds the NaN that bit operations have lost, or a zero that changes nothing, not even +0.
    return Simd::add(value, Simd::mul(signed_by(magnitude, sign_of_x), zero));
  }

  MASE_SIMD static Vec signed_by(Vec magnitude, Bits sign_bits) {
    return Simd::floats(Simd::or_bits(Simd::bits(magnitude), sign_bits));
  }

  /// The bits of the power of two: a fraction at or above a limit carries into the exponent.
  MASE_SIMD Bits rounded(Vec x, Vec magnitude) const {
    const Bits carried = Simd::and_bits(Simd::add_bits(Simd::bits(magnitude), round_up), exponent);
    if constexpr (rounding != Rounding::floor) return carried;
    // Only negative values grow in magnitude.
    const Bits cut = Simd::and_bits(Simd::bits(magnitude), exponent);
    return Simd::bits(Simd::select_signed(x, Simd::floats(carried), Simd::floats(cut)));
  }

  /// The significand 1 + m / 2^23 plus u = k / 2^24 reaches 2 when m + k / 2 reaches 2^23.
  MASE_SIMD Bits rounded(Vec, Vec magnitude, Vec u) const {
    const Vec half = Simd::mul(Simd::floor(Simd::mul(u, Simd::all(0x1p23F))), Simd::all(0x1p-23F));
    const Vec one = Simd::all(1.0F);
    const Bits carry = Simd::sub_bits(Simd::bits(Simd::add(one, half)), Simd::bits(one));
    return Simd::and_bits(Simd::add_bits(Simd::bits(magnitude), carry), exponent);
  }

  MASE_SIMD Vec flushed(Vec x, Vec magnitude, Vec value) const {
    if constexpr (rounding != Rounding::floor)
      return Simd::select_less(flush, magnitude, value, below);
    return Simd::select_less(x, zero, value, Simd::select_less(x, lowest, below, value));
  }
};

/// The code of a value on the grid of a format for which fits_float32 holds.
struct LogCode {
  using Bits = Simd::Bits;
  Bits sign, zero, offset;
  int sign_shift;

  MASE_SIMD static LogCode of(const LogGrid& grid) {
    return {Simd::all_bits(static_cast<std::int32_t>(0x80000000)), Simd::all_bits(0),
            Simd::all_bits(grid.code_offset), grid.sign_shift};
  }

  MASE_SIMD Bits operator()(Simd::Vec value) const {
    const Bits sign_of_value = Simd::and_bits(Simd::bits(value), sign);
    const Bits magnitude = Simd::xor_bits(Simd::bits(value), sign_of_value);
    // The exponent of 0 is below all others, and its code is the lowest.
    const Bits code =
        Simd::max_bits(zero, Simd::sub_bits(Simd::shift_right<23>(magnitude), offset));
    return Simd::or_bits(code, Simd::shift_right_by(sign_of_value, sign_shift));
  }
};

}  // namespace
}  // namespace mase::formats::kernels
