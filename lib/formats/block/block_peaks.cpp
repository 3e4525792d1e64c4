// Choosing the kernel of tile maxima of an instruction set.
#include "base/error.hpp"
#include "formats/block/block_strip.hpp"

namespace mase::formats::kernels {

PeakKernel peak_kernel(Isa isa, bool finite_only) {
#if defined(__x86_64__)
  if (isa == Isa::avx2) return peak_kernel_avx2(finite_only);
  if (isa == Isa::avx512) return peak_kernel_avx512(finite_only);
#endif
  MASE_CHECK(isa == Isa::portable, "instruction set that is not available");
  return peak_kernel_portable(finite_only);
}

}  // namespace mase::formats::kernels
