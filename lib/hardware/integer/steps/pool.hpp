// SPDX-License-Identifier: Apache-2.0
// Maxima and sums over windows.
#pragma once

#include <string>
#include <string_view>

#include "hardware/integer/steps/cast_behind.hpp"
#include "hardware/integer/steps/constants.hpp"
#include "hardware/integer/window.hpp"

namespace mase::integer {

/// Maximum or sum over each window, channel by channel. An average is a sum whose Requantise
/// divides. Padding never wins a maximum and adds 0 to a sum.
struct Pool {
  PoolKind kind = PoolKind::max;
  Window window;

  std::string_view step_kind() const { return "pool"; }
  std::string_view name() const { return kind == PoolKind::max ? "max_pool" : "sum_pool"; }
  std::string details() const { return window_text(window); }
  static constexpr bool only_moves = false;
  static constexpr CastBehind cast_behind = CastBehind::merges;
  static constexpr NoConstants constants{};
};

}  // namespace mase::integer
