// The element kernels of block formats in terms of Simd: one text for all instruction sets.
// Included by block_kernels_<set>.cpp after its simd_*.hpp.
#pragma once

#include "formats/block/block_kernels.hpp"
#include "formats/block/block_runs.hpp"
#include "formats/minifloat/log_op.hpp"
#include "formats/minifloat/minifloat_op.hpp"

namespace mase::formats::kernels {
namespace {

using Vec = Simd::Vec;

MASE_SIMD Vec scaled_down(Vec x, const Lanes<scaled_factors>& tile) {
  return Simd::mul(Simd::mul(x, tile.factor[0]), tile.factor[1]);
}

MASE_SIMD Vec scaled_back(Vec value, const Lanes<scaled_factors>& tile) {
  return Simd::mul(Simd::mul(value, tile.factor[2]), tile.factor[3]);
}

// The same where one float32 has room for each power.
MASE_SIMD Vec scaled_down(Vec x, const Lanes<2>& tile) { return Simd::mul(x, tile.factor[0]); }
MASE_SIMD Vec scaled_back(Vec value, const Lanes<2>& tile) {
  return Simd::mul(value, tile.factor[1]);
}

/// y, but below 0 where x is: a product may underflow to -0, which floor must not take for 0.
template <Rounding rounding>
MASE_SIMD Vec kept_below_zero(Vec x, Vec y) {
  if constexpr (rounding != Rounding::floor) return y;
  const Vec zero = Simd::all(0.0F);
  return Simd::select_less(x, zero, Simd::min(Simd::all(-0x1p-149F), y), y);
}

// Operations take a tile's factors as Lanes<scaled_factors> or Lanes<2>.

/// block_fp's magnitude, an integer with the sign of x (-0 too).
template <Rounding rounding>
struct BlockFpInteger {
  Vec limit, negative_limit, half_below;

  MASE_SIMD static BlockFpInteger of(const BlockFpGrid& grid) {
    return {Simd::all(grid.limit), Simd::all(-grid.limit), Simd::all(0x1.fffffep-2F)};
  }
  template <class Tile>
  MASE_SIMD Vec operator()(Vec x, const Tile& tile) const {
    const Vec y = kept_below_zero<rounding>(x, scaled_down(x, tile));
    return Simd::min(limit, Simd::max(negative_limit, rounded(y)));
  }
  MASE_SIMD Vec rounded(Vec y) const {
    if constexpr (rounding == Rounding::floor) return Simd::floor(y);
    if constexpr (rounding == Rounding::nearest_even) return Simd::nearest_even(y);
    // See integer_loop.hpp.
    return Simd::trunc(Simd::add(y, Simd::copy_sign(half_below, y)));
  }
};

template <Rounding rounding>
struct OnBlockFp {
  static constexpr std::size_t factors = scaled_factors;
  BlockFpInteger<rounding> integer;

  MASE_SIMD static OnBlockFp of(const BlockFpGrid& grid) {
    return {BlockFpInteger<rounding>::of(grid)};
  }
  template <class Tile>
  MASE_SIMD Vec operator()(Vec x, const Tile& tile) const {
    return scaled_back(integer(x, tile), tile);
  }
};

template <Rounding rounding>
struct BlockFpCode {
  static constexpr std::size_t factors = scaled_factors;
  BlockFpInteger<rounding> integer;
  Simd::Bits sign;
  int sign_shift;

  MASE_SIMD static BlockFpCode of(const BlockFpGrid& grid) {
    return {BlockFpInteger<rounding>::of(grid), Simd::all_bits(INT32_MIN), grid.sign_shift};
  }
  template <class Tile>
  MASE_SIMD Vec operator()(Vec x, const Tile& tile) const {
    const Simd::Bits value = Simd::bits(integer(x, tile));
    const Simd::Bits sign_of_value = Simd::and_bits(value, sign);
    const Simd::Bits magnitude =
        Simd::nearest_integer(Simd::floats(Simd::xor_bits(value, sign_of_value)));
    return Simd::floats(Simd::or_bits(magnitude, Simd::shift_right_by(sign_of_value, sign_shift)));
  }
};

/// An operation on a grid, applied to scaled elements.
template <class Grid, class OnGrid, Rounding rounding>
struct OnScaled {
  static constexpr std::size_t factors = scaled_factors;
  OnGrid on_grid;

  MASE_SIMD static OnScaled of(const Grid& grid) { return {OnGrid::of(grid)}; }
  template <class Tile>
  MASE_SIMD Vec operator()(Vec x, const Tile& tile) const {
    const Vec y = kept_below_zero<rounding>(x, scaled_down(x, tile));
    return scaled_back(on_grid(y), tile);
  }
};

/// The code of what an operation on a grid gives.
template <class Grid, class OnGrid, class Code, Rounding rounding>
struct ScaledCode {
  static constexpr std::size_t factors = scaled_factors;
  OnGrid on_grid;
  Code code;

  MASE_SIMD static ScaledCode of(const Grid& grid) { return {OnGrid::of(grid), Code::of(grid)}; }
  template <class Tile>
  MASE_SIMD Vec operator()(Vec x, const Tile& tile) const {
    const Vec y = kept_below_zero<rounding>(x, scaled_down(x, tile));
    return Simd::floats(code(on_grid(y)));
  }
};

/// The grid's own operations, made from both grids.
template <Rounding rounding>
struct ScaledMinifloat : OnMinifloatGrid<rounding> {
  MASE_SIMD static ScaledMinifloat of(const BlockMinifloatGrid& grid) {
    return {OnMinifloatGrid<rounding>::of(grid.values)};
  }
};
struct ScaledMinifloatCode : MinifloatCode<true> {
  MASE_SIMD static ScaledMinifloatCode of(const BlockMinifloatGrid& grid) {
    return {MinifloatCode<true>::of(grid.codes)};
  }
};

template <Rounding rounding>
using OnBlockMinifloat = OnScaled<BlockMinifloatGrid, ScaledMinifloat<rounding>, rounding>;
template <Rounding rounding>
using BlockMinifloatCode =
    ScaledCode<BlockMinifloatGrid, ScaledMinifloat<rounding>, ScaledMinifloatCode, rounding>;
template <Rounding rounding>
using OnBlockLog = OnScaled<LogGrid, OnLogGrid<rounding>, rounding>;
template <Rounding rounding>
using BlockLogCode = ScaledCode<LogGrid, OnLogGrid<rounding>, LogCode, rounding>;

template <class Op, class Grid>
MASE_SIMD_TARGET void on_strip(const Grid& grid, const Strip& strip, const TileFactors& factors) {
  apply_tiles(Op::of(grid), strip, factors);
}

template <class Op, class Grid>
MASE_SIMD_TARGET std::size_t on_runs(const Grid& grid, const PowerRule& rule, const Runs& runs) {
  return apply_runs(Op::of(grid), PowerFactors::of(rule), runs);
}

template <class Grid, template <Rounding> class Op>
void set_kernels(GridKernel<Grid> (&kernels)[3]) {
  constexpr auto even = Rounding::nearest_even, floor = Rounding::floor,
                 away = Rounding::nearest_away;
  kernels[0] = {on_strip<Op<even>, Grid>, on_runs<Op<even>, Grid>};
  kernels[1] = {on_strip<Op<floor>, Grid>, on_runs<Op<floor>, Grid>};
  kernels[2] = {on_strip<Op<away>, Grid>, on_runs<Op<away>, Grid>};
}

BlockKernelTable all_block_kernels() {
  BlockKernelTable table;
  set_kernels<BlockFpGrid, OnBlockFp>(table.fp);
  set_kernels<BlockFpGrid, BlockFpCode>(table.fp_code);
  set_kernels<BlockMinifloatGrid, OnBlockMinifloat>(table.minifloat);
  set_kernels<BlockMinifloatGrid, BlockMinifloatCode>(table.minifloat_code);
  set_kernels<LogGrid, OnBlockLog>(table.log);
  set_kernels<LogGrid, BlockLogCode>(table.log_code);
  return table;
}

}  // namespace
}  // namespace mase::formats::kernels
