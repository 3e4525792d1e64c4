// SPDX-License-Identifier: Apache-2.0
// Rounds one vector of scaled elements to the values of block_minifloat.
#pragma once

#include "formats/block/scaled_op.hpp"
#include "formats/minifloat/minifloat_op.hpp"

namespace mase::formats::kernels {
namespace {

/// The operation on the grid, made from both grids.
template <Rounding rounding>
struct ScaledMinifloat : OnBlockMinifloatGrid<rounding> {
  MASE_SIMD static ScaledMinifloat of(const BlockMinifloatGrid& grid) {
    return {OnBlockMinifloatGrid<rounding>::of(grid.values)};
  }
};
template <Rounding rounding>
using OnBlockMinifloat = OnScaled<BlockMinifloatGrid, ScaledMinifloat<rounding>, rounding>;
template <Rounding rounding>
struct BlockMinifloatCode {
  static constexpr std::size_t factors = scaled_factors;
  static constexpr bool draws = rounding == Rounding::stochastic;
  MinifloatGridCode<rounding> code;

  MASE_SIMD static BlockMinifloatCode of(const BlockMinifloatGrid& grid) {
    return {MinifloatGridCode<rounding>::of(grid.values, grid.codes)};
  }
  template <class Tile, class... Offset>
  MASE_SIMD Vec operator()(Vec x, const Tile& tile, Offset... u) const {
    const Vec y = kept_below_zero<rounding>(x, scaled_down(x, tile));
    return Simd::floats(code.of_number(y, u...));
  }
};

}  // namespace
}  // namespace mase::formats::kernels
