// Stochastic offsets for any machine.
#include "simd/vectors_portable.hpp"
// The loop needs Simd.
#include "formats/offset_loop.hpp"

namespace mase::formats::kernels {

void offsets_portable(std::uint64_t seed, std::uint64_t first, float* out, std::size_t count) {
  make_offsets(seed, first, out, count);
}

}  // namespace mase::formats::kernels
