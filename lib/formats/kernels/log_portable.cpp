// The kernels of the format log for any machine.
#include "formats/kernels/simd_portable.hpp"
// The loop needs Simd.
#include "formats/kernels/log_loop.hpp"

namespace mase::formats::kernels {

LogKernel log_kernel_portable(Rounding rounding) { return choose_kernel(rounding); }

}  // namespace mase::formats::kernels
