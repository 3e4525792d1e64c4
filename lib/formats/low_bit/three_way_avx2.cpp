// The kernels of formats of two or three values for AVX2.
#if defined(__x86_64__)
#include "simd/vectors_avx2.hpp"
// The loop needs Simd.
#include "formats/low_bit/three_way_loop.hpp"

namespace mase::formats::kernels {

const ThreeWayKernels three_way_avx2{run_quantize, run_encode, run_decode, run_sum};

}  // namespace mase::formats::kernels
#endif
