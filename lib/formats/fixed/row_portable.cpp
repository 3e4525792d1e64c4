// The kernels of integers with a scale per row for any machine.
#include "simd/vectors_portable.hpp"
// The loop needs Simd.
#include "formats/fixed/row_loop.hpp"

namespace mase::formats::kernels {

RowKernels row_kernels_portable(Rounding rounding) { return choose_row_kernels(rounding); }

}  // namespace mase::formats::kernels
