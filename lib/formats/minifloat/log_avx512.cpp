// The kernels of the format log for AVX-512.
#if defined(__x86_64__)
#include "simd/vectors_avx512.hpp"
// The loop needs Simd.
#include "formats/minifloat/log_loop.hpp"

namespace mase::formats::kernels {

LogKernel log_kernel_avx512(Rounding rounding) { return choose_kernel(rounding); }

}  // namespace mase::formats::kernels
#endif
