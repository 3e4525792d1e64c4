// The numbers of minifloat kernels, and choosing the kernel of an instruction set.
#include "formats/kernels/minifloat_kernel.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include "base/error.hpp"

namespace mase::formats::kernels {
namespace {

std::int32_t bits_of_power(int exponent) { return (exponent + 127) << 23; }

bool is_lowest_normal(const MinifloatSpec& spec) {
  return spec.profile == Profile::exact && spec.rounding != Rounding::stochastic &&
         spec.lowest_exponent() >= -126;
}

float overflow_value(const MinifloatSpec& spec) {
  if (spec.specials == Specials::ieee) return std::numeric_limits<float>::infinity();
  return std::numeric_limits<float>::quiet_NaN();
}

bool overflows(const MinifloatSpec& spec) {
  return !spec.saturate && spec.specials != Specials::none;
}

}  // namespace

MinifloatGrid minifloat_grid(const MinifloatSpec& spec) {
  MinifloatGrid grid;
  grid.largest = static_cast<float>(spec.largest());
  grid.limit = overflows(spec) ? std::ldexp(1.0F, spec.top_exponent() + 1) : grid.largest;
  grid.overflow = overflow_value(spec);
  grid.lowest = bits_of_power(spec.lowest_exponent());
  grid.to_addend = (23 - spec.fraction_bits()) << 23;
  return grid;
}

bool fits_one_addition(const MinifloatSpec& spec) {
  return is_lowest_normal(spec) && spec.top_exponent() + 1 + 23 - spec.fraction_bits() <= 127;
}

bool fits_two_halves(const MinifloatSpec& spec) {
  return is_lowest_normal(spec) && spec.lowest_exponent() <= -64 && spec.top_exponent() <= 127 &&
         !overflows(spec);
}

MinifloatCodeGrid minifloat_code_grid(const MinifloatSpec& spec) {
  return {bits_of_power(spec.lowest_exponent()),
          bits_of_power(spec.lowest_exponent() + 23 - spec.fraction_bits()),
          1 << spec.fraction_bits(), 23 - spec.fraction_bits(), 32 - spec.width};
}

}  // namespace mase::formats::kernels
