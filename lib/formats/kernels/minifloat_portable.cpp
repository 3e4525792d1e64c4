// The minifloat kernels for any machine.
#include "formats/kernels/simd_portable.hpp"
// The loop needs Simd.
#include "formats/kernels/minifloat_loop.hpp"

namespace mase::formats::kernels {

MinifloatKernel minifloat_kernel_portable(Rounding rounding, MinifloatRange range) {
  return choose_kernel(rounding, range);
}

}  // namespace mase::formats::kernels
