// The element kernels of block formats for any machine.
#include "simd/vectors_portable.hpp"
// The loop needs Simd.
#include "formats/block/block_kernels_loop.hpp"

namespace mase::formats::kernels {

BlockKernelTable block_kernels_portable() { return all_block_kernels(); }

}  // namespace mase::formats::kernels
