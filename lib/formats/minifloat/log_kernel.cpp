// The numbers of kernels of the format log, and choosing the kernel of an instruction set.
#include "formats/minifloat/log_kernel.hpp"

#include "base/error.hpp"

namespace mase::formats::kernels {

LogGrid log_grid(const LogSpec& spec) {
  LogGrid grid;
  grid.highest = static_cast<float>(power_of_two(spec.highest_exponent()));
  grid.lowest = static_cast<float>(power_of_two(spec.lowest_exponent()));
  grid.flush = spec.has_zero() ? grid.lowest / 2.0F : 0.0F;
  grid.below = spec.has_zero() ? 0.0F : grid.lowest;
  // The first fraction that rounds up is that of the smallest float32 above sqrt(2), or 1 ulp.
  grid.round_up = 0x800000 - (spec.rounding == Rounding::floor ? 1 : 0x3504f4);
  grid.code_offset = 127 - spec.exponent_bias;
  grid.sign_shift = 32 - spec.width;
  return grid;
}

bool fits_float32(const LogSpec& spec) {
  return spec.profile == Profile::exact && spec.rounding != Rounding::stochastic &&
         spec.lowest_exponent() >= -126 && spec.highest_exponent() <= 127;
}

LogKernel log_kernel(Isa isa, Rounding rounding) {
  MASE_CHECK(rounding != Rounding::stochastic, "stochastic rounding has no span kernel");
#if defined(__x86_64__)
  if (isa == Isa::avx2) return log_kernel_avx2(rounding);
  if (isa == Isa::avx512) return log_kernel_avx512(rounding);
#endif
  MASE_CHECK(isa == Isa::portable, "instruction set that is not available");
  return log_kernel_portable(rounding);
}

}  // namespace mase::formats::kernels
