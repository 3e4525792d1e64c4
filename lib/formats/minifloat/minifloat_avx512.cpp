// The minifloat kernels for AVX-512.
#if defined(__x86_64__)
#include "simd/vectors_avx512.hpp"
// The loop needs Simd.
#include "formats/minifloat/minifloat_loop.hpp"

namespace mase::formats::kernels {

MinifloatKernel minifloat_kernel_avx512(Rounding rounding, MinifloatRange range) {
  return choose_kernel(rounding, range);
}

}  // namespace mase::formats::kernels
#endif
