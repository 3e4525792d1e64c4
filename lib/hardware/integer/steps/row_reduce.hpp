// SPDX-License-Identifier: Apache-2.0
// Maxima and sums of rows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hardware/integer/steps/cast_behind.hpp"
#include "hardware/integer/steps/constants.hpp"
#include "hardware/integer/window.hpp"

namespace mase::integer {

/// Maximum or sum of every `row` elements.
struct RowReduce {
  PoolKind kind = PoolKind::max;
  std::int64_t row = 1;

  std::string_view step_kind() const { return "row_reduce"; }
  std::string_view name() const { return kind == PoolKind::max ? "row_max" : "row_sum"; }
  std::string details() const { return "of every " + std::to_string(row); }
  static constexpr bool only_moves = false;
  static constexpr CastBehind cast_behind = CastBehind::stays;
  static constexpr NoConstants constants{};
};

}  // namespace mase::integer
