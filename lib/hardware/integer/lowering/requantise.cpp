// SPDX-License-Identifier: Apache-2.0
// Requantisation of accumulators to grids.
#include "hardware/integer/lowering/requantise.hpp"

#include <algorithm>
#include <cmath>

#include "hardware/integer/lowering/operand.hpp"

namespace mase::integer {

Requantise exactly(const Interval& range) {
  return {0, 1, formats::Rounding::nearest_even, range.low, range.high};
}

Requantise unchanged(const FixedType& type) { return exactly(interval_of(type)); }

namespace {

/// The code, or the odd one of the two codes around a number between them.
Wide deciding_code(double number, const FixedType& type) {
  const double code = std::clamp(std::ldexp(number, type.frac), static_cast<double>(type.low()),
                                 static_cast<double>(type.high()));
  const auto below = static_cast<Wide>(std::floor(code));
  const Wide odd = std::floor(code) == code ? below : below | 1;
  return std::clamp(odd, type.low(), type.high());
}

}  // namespace

Wide code_of(double number, const Grid& grid) {
  if (grid.levels) return grid.levels->code_of(number);
  if (grid.blocks) return deciding_code(number, grid.type);
  const auto low = static_cast<double>(grid.type.low());
  const auto high = static_cast<double>(grid.type.high());
  // Codes have at most 32 bits, so the limits are exact in double.
  const double code =
      formats::round_to_integer(std::ldexp(number, grid.type.frac), grid.rounding, 0.0);
  return static_cast<Wide>(std::clamp(code, low, high));
}

bool holds(const FixedType& outer, const FixedType& inner) {
  const int shift = outer.frac - inner.frac;
  if (shift < 0 || shift > stream_bits || inner.width > stream_bits) return false;
  const Interval range = shifted(interval_of(inner), shift);
  return outer.low() <= range.low && range.high <= outer.high();
}

// A shift beyond the accumulator's width rounds as the one just above it does: nearest gives 0
// (at most one half, which is even), floor gives -1 below 0.
//
// Where no accumulator is negative no result is: the low end is 0 then, which saves the sign bit.
Requantise to_grid(const Accumulator& accumulator, const Grid& grid) {
  const int width = signed_width(accumulator.range.low, accumulator.range.high);
  const int shift = std::min(accumulator.frac - grid.type.frac, width + 1);
  const Wide low = accumulator.range.low >= 0 ? 0 : grid.type.low();
  return {shift, accumulator.divisor, grid.rounding, low, grid.type.high()};
}

void check_width(const Interval& range, int limit, const std::string& what) {
  const int width = signed_width(range.low, range.high);
  if (width > limit) throw Refusal{too_wide(what + " needs", width, limit)};
}

std::string too_wide(const std::string& what, int bits, int limit) {
  return what + " " + std::to_string(bits) + " bits, more than " + std::to_string(limit) +
         "; give the node formats with fewer bits, or fewer bits of exponent (pass quantize)";
}

}  // namespace mase::integer
