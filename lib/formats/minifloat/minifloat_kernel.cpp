// SPDX-License-Identifier: Apache-2.0
// The numbers for minifloat kernels.
#include "formats/minifloat/minifloat_kernel.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace mase::formats::kernels {
namespace {

std::int32_t bits_of_power(int exponent) { return (exponent + 127) << 23; }

bool is_lowest_normal(const MinifloatSpec& spec) {
  return spec.profile == Profile::exact && spec.lowest_exponent() >= -126;
}

float overflow_value(const MinifloatSpec& spec) {
  if (spec.specials == Specials::ieee) return std::numeric_limits<float>::infinity();
  return std::numeric_limits<float>::quiet_NaN();
}

std::int32_t code_of(const MinifloatSpec& spec, double value) {
  return static_cast<std::int32_t>(minifloat_code(spec, value));
}

}  // namespace

bool overflows(const MinifloatSpec& spec) {
  return !spec.saturate && spec.specials != Specials::none;
}

MinifloatGrid minifloat_grid(const MinifloatSpec& spec) {
  MinifloatGrid grid;
  grid.largest = static_cast<float>(spec.largest());
  grid.limit = overflows(spec) ? std::ldexp(1.0F, spec.top_exponent() + 1) : grid.largest;
  // Rounding ties away sets the last bit, which would turn infinity into NaN.
  if (spec.rounding == Rounding::nearest_away)
    grid.limit = std::min(grid.limit, std::numeric_limits<float>::max());
  grid.overflow = overflow_value(spec);
  grid.lowest = bits_of_power(spec.lowest_exponent());
  grid.to_addend = (23 - spec.fraction_bits()) << 23;
  return grid;
}

MinifloatRange minifloat_range(const MinifloatSpec& spec) {
  if (!is_lowest_normal(spec)) return MinifloatRange::beyond;
  const int largest_addend = spec.top_exponent() + 1 + 23 - spec.fraction_bits();
  if (largest_addend <= 127)
    return overflows(spec) ? MinifloatRange::overflowing : MinifloatRange::narrow;
  // Scaling down by 2^64 must not take any number to the lowest exponent.
  const bool halves = spec.lowest_exponent() <= -64 && spec.top_exponent() <= 128;
  return halves && !overflows(spec) ? MinifloatRange::wide : MinifloatRange::beyond;
}

bool draws_by_addition(const MinifloatSpec& spec) {
  const MinifloatRange range = minifloat_range(spec);
  return (range == MinifloatRange::narrow || range == MinifloatRange::overflowing) &&
         spec.lowest_exponent() - spec.fraction_bits() >= -126;
}

bool draws_in_bits(const MinifloatSpec& spec) {
  return is_lowest_normal(spec) && spec.top_exponent() <= 127 && spec.fraction_bits() <= 23 &&
         spec.lowest_exponent() <= spec.fraction_bits();
}

bool can_draw(const MinifloatSpec& spec) {
  return spec.rounding == Rounding::stochastic && (draws_by_addition(spec) || draws_in_bits(spec));
}

bool can_encode(const MinifloatSpec& spec) {
  return minifloat_range(spec) != MinifloatRange::beyond && spec.top_exponent() <= 127;
}

MinifloatCodeGrid minifloat_code_grid(const MinifloatSpec& spec) {
  MinifloatCodeGrid grid;
  grid.lowest = bits_of_power(spec.lowest_exponent());
  grid.addend = bits_of_power(spec.lowest_exponent() + 23 - spec.fraction_bits());
  grid.leading_one = 1 << spec.fraction_bits();
  grid.largest = std::bit_cast<std::int32_t>(static_cast<float>(spec.largest()));
  if (spec.specials != Specials::none)
    grid.nan = code_of(spec, std::numeric_limits<double>::quiet_NaN());
  if (spec.specials == Specials::ieee)
    grid.infinity = code_of(spec, std::numeric_limits<double>::infinity());
  grid.fraction_shift = 23 - spec.fraction_bits();
  grid.sign_shift = 32 - spec.width;
  return grid;
}

}  // namespace mase::formats::kernels
