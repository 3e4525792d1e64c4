// The kernels of formats of two or three values for any machine.
#include "simd/vectors_portable.hpp"
// The loop needs Simd.
#include "formats/low_bit/three_way_loop.hpp"

namespace mase::formats::kernels {

const ThreeWayKernels three_way_portable{run_quantize, run_encode, run_decode, run_sum};

}  // namespace mase::formats::kernels
