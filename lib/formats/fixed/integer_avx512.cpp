// The integer kernels for AVX-512.
#if defined(__x86_64__)
#include "simd/vectors_avx512.hpp"
// The loop needs Simd.
#include "formats/fixed/integer_loop.hpp"

namespace mase::formats::kernels {

IntegerKernels integer_kernels_avx512(Rounding rounding, Profile profile) {
  return choose_kernels(rounding, profile);
}

const StochasticKernels stochastic_avx512{run_stochastic, run_stochastic_encode};

}  // namespace mase::formats::kernels
#endif
