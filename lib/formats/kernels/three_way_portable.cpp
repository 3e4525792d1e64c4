// The kernels of formats of two or three values for any machine.
#include "formats/kernels/simd_portable.hpp"
// The loop needs Simd.
#include "formats/kernels/three_way_loop.hpp"

namespace mase::formats::kernels {

const ThreeWayKernels three_way_portable{run_quantize, run_encode, run_decode, run_sum};

}  // namespace mase::formats::kernels
