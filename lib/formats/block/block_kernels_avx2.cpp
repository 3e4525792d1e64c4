// The element kernels of block formats for AVX2.
#if defined(__x86_64__)
#include "simd/vectors_avx2.hpp"
// The loop needs Simd.
#include "formats/block/block_kernels_loop.hpp"

namespace mase::formats::kernels {

BlockKernelTable block_kernels_avx2() { return all_block_kernels(); }

}  // namespace mase::formats::kernels
#endif
