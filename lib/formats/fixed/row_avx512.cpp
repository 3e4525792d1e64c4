// The kernels of integers with a scale per row for AVX-512.
#if defined(__x86_64__)
#include "simd/vectors_avx512.hpp"
// The loop needs Simd.
#include "formats/fixed/row_loop.hpp"

namespace mase::formats::kernels {

RowKernels row_kernels_avx512(Rounding rounding) { return choose_row_kernels(rounding); }

}  // namespace mase::formats::kernels
#endif
