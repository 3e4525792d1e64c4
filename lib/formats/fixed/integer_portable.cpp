// The integer kernels for any machine.
#include "simd/vectors_portable.hpp"
// The loop needs Simd.
#include "formats/fixed/integer_loop.hpp"

namespace mase::formats::kernels {

IntegerKernels integer_kernels_portable(Rounding rounding, Profile profile) {
  return choose_kernels(rounding, profile);
}

const StochasticKernels stochastic_portable{run_stochastic, run_stochastic_encode};

}  // namespace mase::formats::kernels
