// The microscaling kernels for AVX-512.
#if defined(__x86_64__)
#include "simd/vectors_avx512.hpp"
// The loop needs Simd.
#include "formats/microscaling/mx_loop.hpp"

namespace mase::formats::kernels {

MxKernel mx_kernel_avx512(const MxKernelChoice& choice) { return choose_mx_kernel(choice); }

Nvfp4Kernel nvfp4_kernel_avx512() { return nvfp4_blocks; }

}  // namespace mase::formats::kernels
#endif
