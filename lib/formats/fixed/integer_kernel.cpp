// SPDX-License-Identifier: Apache-2.0
// Chooses the integer kernel of an instruction set.
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

const IntegerKernels& kernels_of(simd::Isa isa, Rounding rounding, Profile profile) {
  const IntegerKernelTable& table = integer_kernel_table(isa);
  if (profile == Profile::exact) return table.exact[rounding];
  MASE_CHECK(rounding == Rounding::nearest_even || rounding == Rounding::floor,
             "a rounding that profile reference does not have");
  return rounding == Rounding::floor ? table.reference_floor : table.reference_nearest_even;
}

}  // namespace

IntegerKernel integer_kernel(simd::Isa isa, Rounding rounding, Profile profile) {
  return kernels_of(isa, rounding, profile).quantize;
}

IntegerEncoder integer_encoder(simd::Isa isa, Rounding rounding, Profile profile) {
  return kernels_of(isa, rounding, profile).encode;
}

const StochasticKernels& stochastic_kernels(simd::Isa isa) {
  return integer_kernel_table(isa).stochastic;
}

IntegerDecoder integer_decoder(simd::Isa isa) { return integer_kernel_table(isa).decode; }

}  // namespace mase::formats::kernels
