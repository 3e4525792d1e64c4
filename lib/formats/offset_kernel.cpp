// Choosing the kernel of stochastic offsets.
#include "formats/offset_kernel.hpp"

#include "base/error.hpp"

namespace mase::formats::kernels {

OffsetKernel offset_kernel(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::avx2) return offsets_avx2;
  if (isa == Isa::avx512) return offsets_avx512;
#endif
  MASE_CHECK(isa == Isa::portable, "instruction set that is not available");
  return offsets_portable;
}

}  // namespace mase::formats::kernels
