// The tile maxima for any machine.
#include "simd/vectors_portable.hpp"
// The loop needs Simd.
#include "formats/block/block_peaks_loop.hpp"

namespace mase::formats::kernels {

PeakKernel peak_kernel_portable(bool finite_only) { return choose_peak_kernel(finite_only); }

}  // namespace mase::formats::kernels
