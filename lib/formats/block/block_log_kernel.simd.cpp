// SPDX-License-Identifier: Apache-2.0
// The element kernels of block_log.
#include "formats/block/block_ops.hpp"
#include "formats/minifloat/log_op.hpp"

namespace mase::formats::kernels {
namespace {

template <Rounding rounding>
using OnBlockLog = OnScaled<LogGrid, OnLogGrid<rounding>, rounding>;
template <Rounding rounding>
using BlockLogCode = ScaledCode<LogGrid, OnLogGrid<rounding>, LogCode, rounding>;

// There are no ties, so nearest_away is nearest_even.
template <template <Rounding> class Op>
constexpr GridKernel<LogGrid> nearest = grid_kernel<Op<Rounding::nearest_even>, LogGrid>;
template <template <Rounding> class Op>
constexpr ByRounding<GridKernel<LogGrid>> log_kernels_of{
    nearest<Op>, grid_kernel<Op<Rounding::floor>, LogGrid>, nearest<Op>,
    grid_kernel<Op<Rounding::stochastic>, LogGrid>};

}  // namespace

const GridKernels<LogGrid> MASE_KERNELS_OF(block_log_kernels){log_kernels_of<OnBlockLog>,
                                                              log_kernels_of<BlockLogCode>};

}  // namespace mase::formats::kernels
