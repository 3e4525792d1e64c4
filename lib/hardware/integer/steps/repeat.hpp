// SPDX-License-Identifier: Apache-2.0
// Elements several times.
#pragma once

#include "hardware/integer/steps/declarations.hpp"

namespace mase::integer {

/// Every element `count` times: y[i] = x[i / count].
struct Repeat {
  std::int64_t count = 1;

  std::string_view step_kind() const { return "repeat"; }
  std::string_view name() const { return step_kind(); }
  std::string details() const { return std::to_string(count) + " times"; }
  static constexpr bool only_moves = true;
  std::int64_t products() const { return 0; }
  static constexpr CastBehind cast_behind = CastBehind::passes;
  void take_cast(const Requantise&) {}
  static constexpr NoConstants constants{};

  static constexpr SumsInAccumulator sum_bits{};

  template <class Sum>
  void run(const Frame<Sum>& frame) const {
    for (std::int64_t i = 0; i < frame.elements(); ++i) frame.out()[i] = frame.in()[i / count];
  }
};

}  // namespace mase::integer
