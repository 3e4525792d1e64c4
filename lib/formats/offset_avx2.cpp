// Stochastic offsets for AVX2.
#if defined(__x86_64__)
#include "simd/vectors_avx2.hpp"
// The loop needs Simd.
#include "formats/offset_loop.hpp"

namespace mase::formats::kernels {

void offsets_avx2(std::uint64_t seed, std::uint64_t first, float* out, std::size_t count) {
  make_offsets(seed, first, out, count);
}

}  // namespace mase::formats::kernels
#endif
