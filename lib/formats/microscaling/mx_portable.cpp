// The microscaling kernels for any machine.
#include "simd/vectors_portable.hpp"
// The loop needs Simd.
#include "formats/microscaling/mx_loop.hpp"

namespace mase::formats::kernels {

MxKernel mx_kernel_portable(const MxKernelChoice& choice) { return choose_mx_kernel(choice); }

Nvfp4Kernel nvfp4_kernel_portable() { return nvfp4_blocks; }

}  // namespace mase::formats::kernels
