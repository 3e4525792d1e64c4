// Choosing the microscaling kernel of an instruction set.
#include "formats/microscaling/mx_kernel.hpp"

#include "base/error.hpp"

namespace mase::formats::kernels {

MxKernel mx_kernel(Isa isa, const MxKernelChoice& choice) {
  MASE_CHECK(choice.rounding != Rounding::stochastic, "stochastic rounding has no block kernel");
#if defined(__x86_64__)
  if (isa == Isa::avx2) return mx_kernel_avx2(choice);
  if (isa == Isa::avx512) return mx_kernel_avx512(choice);
#endif
  MASE_CHECK(isa == Isa::portable, "instruction set that is not available");
  return mx_kernel_portable(choice);
}

Nvfp4Kernel nvfp4_kernel(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::avx2) return nvfp4_kernel_avx2();
  if (isa == Isa::avx512) return nvfp4_kernel_avx512();
#endif
  MASE_CHECK(isa == Isa::portable, "instruction set that is not available");
  return nvfp4_kernel_portable();
}

}  // namespace mase::formats::kernels
