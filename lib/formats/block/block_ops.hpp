// SPDX-License-Identifier: Apache-2.0
// The kernels of block_fp, block_minifloat and block_log that an operation on scaled elements
// makes.
#pragma once

#include "formats/block/block_columns.hpp"
#include "formats/block/block_runs.hpp"
#include "formats/block/scaled_op.hpp"

namespace mase::formats::kernels {
namespace {

template <class Op, class Grid>
MASE_SIMD_TARGET void on_strip(const Grid& grid, const Strip& strip, const TileFactors& factors) {
  apply_tiles(Op::of(grid), strip, factors);
}

template <class Op, class Grid>
MASE_SIMD_TARGET std::size_t on_runs(const Grid& grid, const PowerRule& rule, const Runs& runs) {
  return apply_runs(Op::of(grid), PowerFactors::of(rule), runs);
}

template <class Op, class Grid>
MASE_SIMD_TARGET std::size_t on_columns(const Grid& grid, const PowerRule& rule,
                                        const Strip& strip) {
  return apply_columns(Op::of(grid), PowerFactors::of(rule), strip);
}

template <class Op, class Grid>
constexpr GridKernel<Grid> grid_kernel{on_strip<Op, Grid>, on_runs<Op, Grid>, on_columns<Op, Grid>};

/// The kernels of an operation that is a template over the rounding.
template <template <Rounding> class Op, class Grid>
constexpr ByRounding<GridKernel<Grid>> grid_kernels{
    grid_kernel<Op<Rounding::nearest_even>, Grid>, grid_kernel<Op<Rounding::floor>, Grid>,
    grid_kernel<Op<Rounding::nearest_away>, Grid>, grid_kernel<Op<Rounding::stochastic>, Grid>};

}  // namespace
}  // namespace mase::formats::kernels
