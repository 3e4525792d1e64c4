// The kernels of the format log for AVX2.
#if defined(__x86_64__)
#include "simd/vectors_avx2.hpp"
// The loop needs Simd.
#include "formats/minifloat/log_loop.hpp"

namespace mase::formats::kernels {

LogKernel log_kernel_avx2(Rounding rounding) { return choose_kernel(rounding); }

}  // namespace mase::formats::kernels
#endif
