// SPDX-License-Identifier: Apache-2.0
// Lowering of the quotient of two streams.
#include "hardware/integer/lowering/divide.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace mase::integer {
namespace {

constexpr int operand_bits = 124;

/// With so many bits, the last of them below the grid's, all set is more than either bound.
int quotient_bits(const FixedType& type, bool is_signed) {
  return signed_width(0, is_signed ? std::max(type.high(), -type.low()) : type.high());
}

}  // namespace

DivideStep divide_step(const FixedType& a, const FixedType& b, const FixedType& to) {
  const int shift = b.frac - a.frac + to.frac + 1;
  Divide divide{std::max(shift, 0), std::max(-shift, 0), 1};
  if (a.width + divide.shift_a > operand_bits || b.width + divide.shift_b > operand_bits)
    throw Refusal{
        "the binary points of its operands and its result are too far apart; bring their "
        "frac_width "
        "closer together"};
  const bool is_signed = a.is_signed || b.is_signed;
  divide.bits = quotient_bits(to, is_signed);
  return {divide, {{is_signed ? -divide.most() : 0, divide.most()}, to.frac + 2}};
}

namespace {

/// The type whose quotients decide between all levels up to `most`: thresholds are codes of it with
/// one bit more, below which the accumulator tells whether something is left.
FixedType type_between(const Levels& levels, double most) {
  std::optional<int> frac;
  double largest = 0;
  for (const Threshold& threshold : levels.thresholds) {
    const double magnitude = std::abs(static_cast<double>(threshold.at));
    if (magnitude == 0 || magnitude > most) continue;
    frac = std::max(frac.value_or(fraction_bits(magnitude)), fraction_bits(magnitude));
    largest = std::max(largest, magnitude);
  }
  const int below = frac.value_or(0) - 1;
  const auto high = static_cast<Wide>(std::ceil(std::ldexp(largest, below)));
  return type_for(-high - 1, high, below);
}

/// The same for a format with blocks, whose deciding type has the accumulator's fraction bits.
FixedType type_between(const FixedType& deciding, double most) {
  const int frac = deciding.frac - 2;
  const double end = std::ldexp(std::min(most, 0x1p62), frac);
  const auto high = std::min<Wide>((deciding.high() + 3) >> 2,
                                   static_cast<Wide>(std::min(std::ceil(end), 0x1p100)));
  return type_for(-high - 1, high, frac);
}

}  // namespace

DivideStep divide_step(const FixedType& a, const FixedType& b, const Grid& to, double most) {
  if (to.blocks) return divide_step(a, b, type_between(to.type, most));
  return divide_step(a, b, to.levels ? type_between(*to.levels, most) : to.type);
}

StreamView divide(const Call& call, const StreamView& a, const StreamView& b, double most) {
  const DivideStep made =
      divide_step(call.lowering.value(a.id).type, call.lowering.value(b.id).type,
                  call.needed_or_finer_grid(), most);
  return call.lowering.emit(call.node, made.operation, {a.id, b.id}, made.accumulator,
                            call.lowering.layout_of(a));
}

}  // namespace mase::integer
