// SPDX-License-Identifier: Apache-2.0
// The step that changes types only.
#pragma once

#include "hardware/integer/steps/declarations.hpp"

namespace mase::integer {

/// Type change only: also relu, relu6, hardtanh and clamp where they are not part of another step.
struct Cast {
  std::string_view step_kind() const { return "cast"; }
  std::string_view name() const { return step_kind(); }
  std::string details() const { return ""; }
  static constexpr bool only_moves = false;
  std::int64_t products() const { return 0; }
  static constexpr CastBehind cast_behind = CastBehind::merges;
  static constexpr NoConstants constants{};

  static constexpr SumsInAccumulator sum_bits{};

  template <class Sum>
  void run(const Frame<Sum>& frame) const {
    frame.fill([&](std::int64_t i) { return frame.in()[i]; });
  }
};

}  // namespace mase::integer
