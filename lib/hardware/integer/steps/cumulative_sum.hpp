// SPDX-License-Identifier: Apache-2.0
// Running sums along a dimension.
#pragma once

#include "hardware/integer/steps/declarations.hpp"

namespace mase::integer {

/// The sum of every element and of all before it along a dimension of `size` positions: position p
/// of element k is element (p * inner + k) of `size * inner`.
///
///   out[p * inner + k] = sum of in[q * inner + k] over q = 0 ... p
struct CumulativeSum {
  std::int64_t size = 1, inner = 1;

  std::string_view step_kind() const { return "cumulative_sum"; }
  std::string_view name() const { return step_kind(); }
  std::string details() const {
    return "of every " + std::to_string(size) + ", " + std::to_string(inner) + " apart";
  }
  static constexpr bool only_moves = false;
  std::int64_t products() const { return 0; }
  static constexpr CastBehind cast_behind = CastBehind::merges;
  static constexpr NoConstants constants{};

  static constexpr SumsInAccumulator sum_bits{};

  template <class Sum>
  void run(const Frame<Sum>& frame) const {
    std::vector<Sum> sums(at(inner));
    frame.fill([&](std::int64_t i) {
      Sum& sum = sums[at(i % inner)];
      const bool first = i % (size * inner) < inner;
      return sum = (first ? Sum{0} : sum) + frame.in()[i];
    });
  }
};

}  // namespace mase::integer
