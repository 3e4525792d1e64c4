// SPDX-License-Identifier: Apache-2.0
// The numbers for kernels of the format log.
#include "formats/minifloat/log_kernel.hpp"

namespace mase::formats::kernels {

LogGrid log_grid(const LogSpec& spec) {
  LogGrid grid;
  grid.highest = static_cast<float>(power_of_two(spec.highest_exponent()));
  grid.lowest = static_cast<float>(power_of_two(spec.lowest_exponent()));
  grid.flush = spec.has_zero() ? grid.lowest / 2.0F : 0.0F;
  grid.below = spec.has_zero() ? 0.0F : grid.lowest;
  // The first fraction that rounds up: that of the smallest float32 above sqrt(2), or 1 ulp.
  grid.round_up = 0x800000 - (spec.rounding == Rounding::floor ? 1 : 0x3504f4);
  grid.code_offset = 127 - spec.exponent_bias;
  grid.sign_shift = 32 - spec.width;
  return grid;
}

bool fits_float32(const LogSpec& spec) {
  return spec.profile == Profile::exact && spec.lowest_exponent() >= -126 &&
         spec.highest_exponent() <= 127;
}

}  // namespace mase::formats::kernels
