// The integer kernels for AVX2.
#if defined(__x86_64__)
#include "simd/vectors_avx2.hpp"
// The loop needs Simd.
#include "formats/fixed/integer_loop.hpp"

namespace mase::formats::kernels {

IntegerKernels integer_kernels_avx2(Rounding rounding, Profile profile) {
  return choose_kernels(rounding, profile);
}

const StochasticKernels stochastic_avx2{run_stochastic, run_stochastic_encode};

}  // namespace mase::formats::kernels
#endif
