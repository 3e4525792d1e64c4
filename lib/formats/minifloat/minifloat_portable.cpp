// The minifloat kernels for any machine.
#include "simd/vectors_portable.hpp"
// The loop needs Simd.
#include "formats/minifloat/minifloat_loop.hpp"

namespace mase::formats::kernels {

MinifloatKernel minifloat_kernel_portable(Rounding rounding, MinifloatRange range) {
  return choose_kernel(rounding, range);
}

}  // namespace mase::formats::kernels
