// Choosing the kernels of formats of two or three values.
#include "formats/low_bit/three_way_kernel.hpp"

#include "base/error.hpp"

namespace mase::formats::kernels {

const ThreeWayKernels& three_way_kernels(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::avx2) return three_way_avx2;
  if (isa == Isa::avx512) return three_way_avx512;
#endif
  MASE_CHECK(isa == Isa::portable, "instruction set that is not available");
  return three_way_portable;
}

}  // namespace mase::formats::kernels
