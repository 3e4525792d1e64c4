// SPDX-License-Identifier: Apache-2.0
// The table of CUDA's kernels for blocks: for each, the operation that processors apply, too.
#define MASE_ISA scalar
#include "formats/block/block_fp_op.hpp"
#include "formats/block/block_minifloat_op.hpp"
#include "formats/device/tile_body.hpp"
#include "formats/microscaling/mx_integer_op.hpp"
#include "formats/microscaling/mx_minifloat_op.hpp"
#include "formats/minifloat/log_op.hpp"

namespace mase::formats::kernels {
namespace {

template <class Op, class Grid>
const char* on_tiles(const Grid& grid, const DeviceTiles& tiles, Seed seed,
                     const DeviceSpan& span) {
  return apply_to_tiles(Op::of(grid), tiles, seed, span);
}

/// The kernels of an operation that is a template over the rounding.
template <template <Rounding> class Op, class Grid>
constexpr ByRounding<OnDeviceTiles<Grid>> tiles_of{
    on_tiles<Op<Rounding::nearest_even>, Grid>, on_tiles<Op<Rounding::floor>, Grid>,
    on_tiles<Op<Rounding::nearest_away>, Grid>, on_tiles<Op<Rounding::stochastic>, Grid>};

template <Rounding rounding>
using OnBlockLog = OnScaled<LogGrid, OnLogGrid<rounding>, rounding>;
template <Rounding rounding>
using MxInteger = OnMxInteger<rounding, false>;
template <Rounding rounding>
using MxMinifloat = OnMxMinifloat<rounding, false>;

}  // namespace

const TileKernels tile_kernels_on_device{
    .block_fp = tiles_of<OnBlockFp, BlockFpGrid>,
    .block_minifloat = tiles_of<OnBlockMinifloat, BlockMinifloatGrid>,
    .block_log = tiles_of<OnBlockLog, LogGrid>,
    .mx_integer = tiles_of<MxInteger, MxGrid>,
    .mx_minifloat = tiles_of<MxMinifloat, MxGrid>};

}  // namespace mase::formats::kernels
