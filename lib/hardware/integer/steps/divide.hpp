// SPDX-License-Identifier: Apache-2.0
// Exact quotients of two streams.
#pragma once

#include "hardware/integer/steps/declarations.hpp"

namespace mase::integer {

/// a / b at the point of the accumulator, which has two bits below the result's last one:
/// |a| << shift_a divided by |b| << shift_b as `bits` bits, then one that tells whether something
/// is left, then the sign. So rounding the accumulator rounds the exact quotient. What passes
/// `bits` bits, as every x / 0 does, has all bits set, which is beyond the result's bounds; 0 / 0
/// is 0.
struct Divide {
  int shift_a = 0, shift_b = 0, bits = 1;

  /// The type of the numbers holds |a| << shift_a, |b| << shift_b and the largest accumulator.
  template <class Number>
  Number operator()(Number a, Number b) const {
    if (a == 0) return 0;
    const Number numerator = (a < 0 ? -a : a) << shift_a, divisor = (b < 0 ? -b : b) << shift_b;
    Number magnitude = most<Number>();
    if (divisor != 0 && numerator / divisor < Number{1} << bits)
      magnitude = numerator / divisor * 2 + (numerator % divisor != 0 ? 1 : 0);
    return (a < 0) != (b < 0) ? -magnitude : magnitude;
  }
  template <class Number = Wide>
  Number most() const {  ///< the largest accumulator
    return (Number{1} << (bits + 1)) - 1;
  }

  std::string_view step_kind() const { return "divide"; }
  std::string_view name() const { return step_kind(); }
  std::string details() const {
    return "<< " + std::to_string(shift_a) + ", " + std::to_string(shift_b);
  }
  static constexpr bool only_moves = false;
  std::int64_t products() const { return 0; }
  static constexpr CastBehind cast_behind = CastBehind::merges;
  static constexpr NoConstants constants{};

  /// Those of the shifted operands and of the largest accumulator.
  int sum_bits(std::span<const FixedType> inputs) const {
    return std::max({inputs[0].width + shift_a + 1, inputs[1].width + shift_b + 1, bits + 2});
  }

  template <class Sum>
  void run(const Frame<Sum>& frame) const {
    frame.fill([&](std::int64_t i) { return (*this)(Sum{frame.in(0)[i]}, Sum{frame.in(1)[i]}); });
  }
};

}  // namespace mase::integer
