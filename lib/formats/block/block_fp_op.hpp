// SPDX-License-Identifier: Apache-2.0
// Rounds one vector of scaled elements to the integers of block_fp.
#pragma once

#include "formats/block/scaled_op.hpp"
#include "formats/drawn_op.hpp"

namespace mase::formats::kernels {
namespace {

/// block_fp's magnitude, an integer with the sign of x (-0 too).
template <Rounding rounding>
struct BlockFpInteger {
  Vec limit, negative_limit, half_below;

  MASE_SIMD static BlockFpInteger of(const BlockFpGrid& grid) {
    return {Simd::all(grid.limit), Simd::all(-grid.limit), Simd::all(0x1.fffffep-2F)};
  }
  template <class Tile, class... Offset>
  MASE_SIMD Vec operator()(Vec x, const Tile& tile, Offset... u) const {
    const Vec y = kept_below_zero<rounding>(x, scaled_down(x, tile));
    return Simd::min(limit, Simd::max(negative_limit, rounded(y, u...)));
  }
  MASE_SIMD Vec rounded(Vec y, Vec u) const { return drawn_integer(y, u); }
  MASE_SIMD Vec rounded(Vec y) const {
    if constexpr (rounding == Rounding::floor) return Simd::floor(y);
    if constexpr (rounding == Rounding::nearest_even) return Simd::nearest_even(y);
    // See integer_op.hpp.
    return Simd::trunc(Simd::add(y, Simd::copy_sign(half_below, y)));
  }
};

template <Rounding rounding>
struct OnBlockFp {
  static constexpr std::size_t factors = scaled_factors;
  static constexpr bool draws = rounding == Rounding::stochastic;
  BlockFpInteger<rounding> integer;

  MASE_SIMD static OnBlockFp of(const BlockFpGrid& grid) {
    return {BlockFpInteger<rounding>::of(grid)};
  }
  template <class Tile, class... Offset>
  MASE_SIMD Vec operator()(Vec x, const Tile& tile, Offset... u) const {
    return scaled_back(integer(x, tile, u...), tile);
  }
};

template <Rounding rounding>
struct BlockFpCode {
  static constexpr std::size_t factors = scaled_factors;
  static constexpr bool draws = rounding == Rounding::stochastic;
  BlockFpInteger<rounding> integer;
  Simd::Bits sign;
  int sign_shift;

  MASE_SIMD static BlockFpCode of(const BlockFpGrid& grid) {
    return {BlockFpInteger<rounding>::of(grid), Simd::all_bits(INT32_MIN), grid.sign_shift};
  }
  template <class Tile, class... Offset>
  MASE_SIMD Vec operator()(Vec x, const Tile& tile, Offset... u) const {
    const Simd::Bits value = Simd::bits(integer(x, tile, u...));
    const Simd::Bits sign_of_value = Simd::and_bits(value, sign);
    const Simd::Bits magnitude =
        Simd::nearest_integer(Simd::floats(Simd::xor_bits(value, sign_of_value)));
    return Simd::floats(Simd::or_bits(magnitude, Simd::shift_right_by(sign_of_value, sign_shift)));
  }
};

}  // namespace
}  // namespace mase::formats::kernels
