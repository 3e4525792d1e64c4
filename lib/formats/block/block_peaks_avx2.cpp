// The tile maxima for AVX2.
#if defined(__x86_64__)
#include "simd/vectors_avx2.hpp"
// The loop needs Simd.
#include "formats/block/block_peaks_loop.hpp"

namespace mase::formats::kernels {

PeakKernel peak_kernel_avx2(bool finite_only) { return choose_peak_kernel(finite_only); }

}  // namespace mase::formats::kernels
#endif
