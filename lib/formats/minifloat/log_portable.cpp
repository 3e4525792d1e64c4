// The kernels of the format log for any machine.
#include "simd/vectors_portable.hpp"
// The loop needs Simd.
#include "formats/minifloat/log_loop.hpp"

namespace mase::formats::kernels {

LogKernel log_kernel_portable(Rounding rounding) { return choose_kernel(rounding); }

}  // namespace mase::formats::kernels
