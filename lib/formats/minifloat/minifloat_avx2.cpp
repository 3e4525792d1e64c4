// The minifloat kernels for AVX2.
#if defined(__x86_64__)
#include "simd/vectors_avx2.hpp"
// The loop needs Simd.
#include "formats/minifloat/minifloat_loop.hpp"

namespace mase::formats::kernels {

MinifloatKernel minifloat_kernel_avx2(Rounding rounding, MinifloatRange range) {
  return choose_kernel(rounding, range);
}

}  // namespace mase::formats::kernels
#endif
