// SPDX-License-Identifier: Apache-2.0
// The element kernels of block_minifloat.
#include "formats/block/block_minifloat_op.hpp"
#include "formats/block/block_ops.hpp"

namespace mase::formats::kernels {

const GridKernels<BlockMinifloatGrid> MASE_KERNELS_OF(block_minifloat_kernels){
    grid_kernels<OnBlockMinifloat, BlockMinifloatGrid>,
    grid_kernels<BlockMinifloatCode, BlockMinifloatGrid>};

}  // namespace mase::formats::kernels
