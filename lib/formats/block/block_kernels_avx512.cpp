// The element kernels of block formats for AVX-512.
#if defined(__x86_64__)
#include "simd/vectors_avx512.hpp"
// The loop needs Simd.
#include "formats/block/block_kernels_loop.hpp"

namespace mase::formats::kernels {

BlockKernelTable block_kernels_avx512() { return all_block_kernels(); }

}  // namespace mase::formats::kernels
#endif
