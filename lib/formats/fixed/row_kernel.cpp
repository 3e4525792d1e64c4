// Choosing the kernels of integers with a scale per row.
#include "formats/fixed/row_kernel.hpp"

#include "base/error.hpp"

namespace mase::formats::kernels {

RowKernels row_kernels(Isa isa, Rounding rounding) {
  MASE_CHECK(rounding != Rounding::stochastic, "stochastic rounding has no row kernel");
#if defined(__x86_64__)
  if (isa == Isa::avx2) return row_kernels_avx2(rounding);
  if (isa == Isa::avx512) return row_kernels_avx512(rounding);
#endif
  MASE_CHECK(isa == Isa::portable, "instruction set that is not available");
  return row_kernels_portable(rounding);
}

}  // namespace mase::formats::kernels
