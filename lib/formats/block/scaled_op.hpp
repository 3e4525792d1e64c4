// SPDX-License-Identifier: Apache-2.0
// The common parts of the operations of block_fp, block_minifloat and block_log: scaling elements
// to a grid that is the same for all tiles, and back.
#pragma once

#include "formats/block/block_kernels.hpp"
#include "formats/block/block_lanes.hpp"

namespace mase::formats::kernels {
namespace {

using simd::Simd;

using Vec = Simd::Vec;

MASE_SIMD Vec scaled_down(Vec x, const Lanes<scaled_factors>& tile) {
  return Simd::mul(Simd::mul(x, tile.factor[0]), tile.factor[1]);
}

MASE_SIMD Vec scaled_back(Vec value, const Lanes<scaled_factors>& tile) {
  return Simd::mul(Simd::mul(value, tile.factor[2]), tile.factor[3]);
}

// The same when one float32 can hold each power.
MASE_SIMD Vec scaled_down(Vec x, const Lanes<2>& tile) { return Simd::mul(x, tile.factor[0]); }
MASE_SIMD Vec scaled_back(Vec value, const Lanes<2>& tile) {
  return Simd::mul(value, tile.factor[1]);
}

/// y, made negative where x is: a product may underflow to -0, which must not count as 0 when
/// rounding goes to minus infinity (perhaps by chance). `next` has the bits of a negative number,
/// which replaces negative numbers above it.
template <Rounding rounding>
MASE_SIMD Vec kept_below_zero(Vec x, Vec y, Simd::Bits next = Simd::all_bits(INT32_MIN + 1)) {
  if constexpr (rounding != Rounding::floor && rounding != Rounding::stochastic) return y;
  const Simd::Bits infinity = Simd::all_bits(0x7f800000);
  const Vec flips = Simd::floats(Simd::xor_bits(infinity, next));
  const Vec highest = Simd::floats(
      Simd::xor_bits(Simd::bits(Simd::where_less(x, Simd::all(0.0F), flips)), infinity));
  return Simd::min(highest, y);
}

// Operations take a tile's factors as Lanes<scaled_factors> or Lanes<2>; operations with stochastic
// rounding also take offsets.

/// An operation on a grid, applied to scaled elements.
template <class Grid, class OnGrid, Rounding rounding>
struct OnScaled {
  static constexpr std::size_t factors = scaled_factors;
  static constexpr bool draws = rounding == Rounding::stochastic, is_long = true;
  OnGrid on_grid;

  MASE_SIMD static OnScaled of(const Grid& grid) { return {OnGrid::of(grid)}; }
  template <class Tile, class... Offset>
  MASE_SIMD Vec operator()(Vec x, const Tile& tile, Offset... u) const {
    return scaled_back(on_grid(scaled(x, tile), u...), tile);
  }
  template <class Tile>
  MASE_SIMD Vec scaled(Vec x, const Tile& tile) const {
    const Vec y = scaled_down(x, tile);
    if constexpr (requires { on_grid.within_step; })
      return kept_below_zero<rounding>(x, y, on_grid.within_step);
    else
      return kept_below_zero<rounding>(x, y);
  }
};

/// The code of the result of an operation on a grid.
template <class Grid, class OnGrid, class Code, Rounding rounding>
struct ScaledCode {
  static constexpr std::size_t factors = scaled_factors;
  static constexpr bool draws = rounding == Rounding::stochastic;
  OnGrid on_grid;
  Code code;

  MASE_SIMD static ScaledCode of(const Grid& grid) { return {OnGrid::of(grid), Code::of(grid)}; }
  template <class Tile, class... Offset>
  MASE_SIMD Vec operator()(Vec x, const Tile& tile, Offset... u) const {
    const Vec y = kept_below_zero<rounding>(x, scaled_down(x, tile));
    return Simd::floats(code(on_grid(y, u...)));
  }
};

}  // namespace
}  // namespace mase::formats::kernels
