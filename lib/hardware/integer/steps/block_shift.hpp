// SPDX-License-Identifier: Apache-2.0
// Elements shifted by the exponents that their blocks share.
#pragma once

#include <algorithm>

#include "hardware/integer/steps/declarations.hpp"

namespace mase::integer {

/// An element a and a distance b for each, which is not negative. To the left: a * 2^b. To the
/// right, with n = b + places: 2 * floor(a / 2^n) + 1 where that leaves a rest, else
/// 2 * floor(a / 2^n), so that rounding the accumulator rounds a / 2^n.
struct BlockShift {
  bool right = false;
  int places = 0;

  /// The type of the numbers holds the accumulator, and a * 2^-places where that is whole.
  template <class Number>
  Number operator()(Number a, std::int64_t b) const {
    if (!right) return a << b;
    if (places < 0) a <<= -places;
    constexpr std::int64_t most = sizeof(Number) * 8 - 2;  // a number has fewer bits
    const auto n = std::min(b + std::max(places, 0), most);
    const Number floor = a >> n;
    return 2 * floor + (floor << n == a ? 0 : 1);
  }

  std::string_view step_kind() const { return "block_shift"; }
  std::string_view name() const { return right ? "block_shift_right" : "block_shift_left"; }
  std::string details() const {
    return places == 0 ? ""
                       : (places > 0 ? "by " : "by -") + std::to_string(std::abs(places)) + " more";
  }
  static constexpr bool only_moves = false;
  std::int64_t products() const { return 0; }
  static constexpr CastBehind cast_behind = CastBehind::merges;
  static constexpr NoConstants constants{};

  static constexpr SumsInAccumulator sum_bits{};

  template <class Sum>
  void run(const Frame<Sum>& frame) const {
    frame.fill([&](std::int64_t i) { return (*this)(Sum{frame.in(0)[i]}, frame.in(1)[i]); });
  }
};

}  // namespace mase::integer
