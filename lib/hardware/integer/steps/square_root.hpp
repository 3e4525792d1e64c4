// SPDX-License-Identifier: Apache-2.0
// Whole parts of square roots.
#pragma once

#include "hardware/integer/steps/declarations.hpp"

namespace mase::integer {

/// The whole part of sqrt((x << shift) + addend), for x that is not negative.
struct SquareRoot {
  int shift = 0;
  std::int64_t addend = 0;

  Wide operator()(Wide x) const;

  std::string_view step_kind() const { return "square_root"; }
  std::string_view name() const { return step_kind(); }
  std::string details() const {
    return "<< " + std::to_string(shift) + " + " + std::to_string(addend);
  }
  static constexpr bool only_moves = false;
  std::int64_t products() const { return 0; }
  static constexpr CastBehind cast_behind = CastBehind::stays;
  static constexpr NoConstants constants{};

  static constexpr SumsInAccumulator sum_bits{};

  template <class Sum>
  void run(const Frame<Sum>& frame) const {
    for (std::int64_t i = 0; i < frame.elements(); ++i)
      frame.out()[i] = static_cast<std::int64_t>((*this)(frame.in()[i]));
  }
};

}  // namespace mase::integer
