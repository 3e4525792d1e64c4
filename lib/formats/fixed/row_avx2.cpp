// The kernels of integers with a scale per row for AVX2.
#if defined(__x86_64__)
#include "simd/vectors_avx2.hpp"
// The loop needs Simd.
#include "formats/fixed/row_loop.hpp"

namespace mase::formats::kernels {

RowKernels row_kernels_avx2(Rounding rounding) { return choose_row_kernels(rounding); }

}  // namespace mase::formats::kernels
#endif
