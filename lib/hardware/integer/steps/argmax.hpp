// SPDX-License-Identifier: Apache-2.0
// Places of maxima.
#pragma once

#include "hardware/integer/steps/declarations.hpp"

namespace mase::integer {

/// The place of the largest of every `row` elements, the first one where several are equal.
struct Argmax {
  std::int64_t row = 1;

  std::string_view step_kind() const { return "argmax"; }
  std::string_view name() const { return step_kind(); }
  std::string details() const { return "of every " + std::to_string(row); }
  static constexpr bool only_moves = false;
  std::int64_t products() const { return 0; }
  static constexpr CastBehind cast_behind = CastBehind::stays;
  static constexpr NoConstants constants{};

  static constexpr SumsInAccumulator sum_bits{};

  template <class Sum>
  void run(const Frame<Sum>& frame) const {
    frame.fill([&](std::int64_t i) {
      const std::int64_t* codes = frame.in() + i * row;
      return static_cast<Sum>(std::max_element(codes, codes + row) - codes);
    });
  }
};

}  // namespace mase::integer
