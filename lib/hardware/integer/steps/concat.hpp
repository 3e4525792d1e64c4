// SPDX-License-Identifier: Apache-2.0
// Streams one after the other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hardware/integer/fixed.hpp"
#include "hardware/integer/steps/cast_behind.hpp"
#include "hardware/integer/steps/constants.hpp"

namespace mase::integer {

/// Inputs in turn, `rows` times in a frame: elements / rows of each.
struct Concat {
  std::int64_t rows = 1;

  std::string_view step_kind() const { return "concat"; }
  std::string_view name() const { return step_kind(); }
  std::string details() const { return ""; }
  static constexpr bool only_moves = true;
  static constexpr CastBehind cast_behind = CastBehind::passes;
  void take_cast(const Requantise&) {}
  static constexpr NoConstants constants{};
};

}  // namespace mase::integer
