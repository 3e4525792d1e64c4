// Choosing the integer kernel of an instruction set.
#include "formats/kernels/integer_kernel.hpp"

#include <cmath>

#include "base/error.hpp"

namespace mase::formats::kernels {

IntegerGrid integer_grid(const IntegerSpec& spec) {
  return {std::ldexp(1.0F, spec.frac_width), std::ldexp(1.0F, -spec.frac_width),
          static_cast<float>(spec.low()), static_cast<float>(spec.high())};
}

IntegerKernel integer_kernel(Isa isa, Rounding rounding, Profile profile) {
  MASE_CHECK(rounding != Rounding::stochastic, "stochastic rounding has no span kernel");
  MASE_CHECK(profile == Profile::exact || rounding != Rounding::nearest_away,
             "profile mase has no rounding nearest_away");
#if defined(__x86_64__)
  if (isa == Isa::avx2) return integer_kernel_avx2(rounding, profile);
  if (isa == Isa::avx512) return integer_kernel_avx512(rounding, profile);
#endif
  MASE_CHECK(isa == Isa::portable, "instruction set that is not available");
  return integer_kernel_portable(rounding, profile);
}

}  // namespace mase::formats::kernels
