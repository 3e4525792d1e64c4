// SPDX-License-Identifier: Apache-2.0
// The element kernels of block_minifloat.
#include "formats/block/block_ops.hpp"
#include "formats/minifloat/minifloat_op.hpp"

namespace mase::formats::kernels {
namespace {

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

}  // namespace

const GridKernels<BlockMinifloatGrid> MASE_KERNELS_OF(block_minifloat_kernels){
    grid_kernels<OnBlockMinifloat, BlockMinifloatGrid>,
    grid_kernels<BlockMinifloatCode, BlockMinifloatGrid>};

}  // namespace mase::formats::kernels
