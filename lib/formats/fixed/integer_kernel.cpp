// Choosing the integer kernel of an instruction set.
#include "formats/fixed/integer_kernel.hpp"

#include <cmath>

#include "base/error.hpp"

namespace mase::formats::kernels {

IntegerGrid integer_grid(const IntegerSpec& spec) {
  return {std::ldexp(1.0F, spec.frac_width), std::ldexp(1.0F, -spec.frac_width),
          static_cast<float>(spec.low()), static_cast<float>(spec.high()),
          spec.is_signed ? static_cast<std::int32_t>(1U << (spec.width - 1)) : 0};
}

namespace {

IntegerKernels kernels_of(Isa isa, Rounding rounding, Profile profile) {
  MASE_CHECK(rounding != Rounding::stochastic, "stochastic rounding has no span kernel");
  MASE_CHECK(profile == Profile::exact || rounding != Rounding::nearest_away,
             "profile mase has no rounding nearest_away");
#if defined(__x86_64__)
  if (isa == Isa::avx2) return integer_kernels_avx2(rounding, profile);
  if (isa == Isa::avx512) return integer_kernels_avx512(rounding, profile);
#endif
  MASE_CHECK(isa == Isa::portable, "instruction set that is not available");
  return integer_kernels_portable(rounding, profile);
}

}  // namespace

IntegerKernel integer_kernel(Isa isa, Rounding rounding, Profile profile) {
  return kernels_of(isa, rounding, profile).quantize;
}

IntegerEncoder integer_encoder(Isa isa, Rounding rounding, Profile profile) {
  return kernels_of(isa, rounding, profile).encode;
}

const StochasticKernels& stochastic_kernels(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::avx2) return stochastic_avx2;
  if (isa == Isa::avx512) return stochastic_avx512;
#endif
  MASE_CHECK(isa == Isa::portable, "instruction set that is not available");
  return stochastic_portable;
}

IntegerDecoder integer_decoder(Isa isa) {
  return kernels_of(isa, Rounding::nearest_even, Profile::exact).decode;
}

}  // namespace mase::formats::kernels
