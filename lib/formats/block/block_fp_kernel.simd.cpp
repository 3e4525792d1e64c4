// SPDX-License-Identifier: Apache-2.0
// The element kernels of block_fp.
#include "formats/block/block_fp_op.hpp"
#include "formats/block/block_ops.hpp"

namespace mase::formats::kernels {

const GridKernels<BlockFpGrid> MASE_KERNELS_OF(block_fp_kernels){
    grid_kernels<OnBlockFp, BlockFpGrid>, grid_kernels<BlockFpCode, BlockFpGrid>};

}  // namespace mase::formats::kernels
