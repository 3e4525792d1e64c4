// SPDX-License-Identifier: Apache-2.0
// The step that changes types only.
#pragma once

#include <string>
#include <string_view>

#include "hardware/integer/steps/cast_behind.hpp"
#include "hardware/integer/steps/constants.hpp"

namespace mase::integer {

/// Type change only: also relu, relu6, hardtanh and clamp where they are not part of another step.
struct Cast {
  std::string_view step_kind() const { return "cast"; }
  std::string_view name() const { return step_kind(); }
  std::string details() const { return ""; }
  static constexpr bool only_moves = false;
  static constexpr CastBehind cast_behind = CastBehind::merges;
  static constexpr NoConstants constants{};
};

}  // namespace mase::integer
