// Stochastic offsets for AVX-512.
#if defined(__x86_64__)
#include "simd/vectors_avx512.hpp"
// The loop needs Simd.
#include "formats/offset_loop.hpp"

namespace mase::formats::kernels {

void offsets_avx512(std::uint64_t seed, std::uint64_t first, float* out, std::size_t count) {
  make_offsets(seed, first, out, count);
}

}  // namespace mase::formats::kernels
#endif
