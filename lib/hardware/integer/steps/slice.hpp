// SPDX-License-Identifier: Apache-2.0
// Parts of a stream.
#pragma once

#include "hardware/integer/steps/declarations.hpp"

namespace mase::integer {

/// Elements [first, first + count) of every `period` of them, which divides the frame.
struct Slice {
  std::int64_t first = 0, count = 0, period = 1;

  std::string_view step_kind() const { return "slice"; }
  std::string_view name() const { return step_kind(); }
  std::string details() const {
    return std::to_string(first) + " + " + std::to_string(count) + " of " + std::to_string(period);
  }
  static constexpr bool only_moves = true;
  std::int64_t products() const { return 0; }
  static constexpr CastBehind cast_behind = CastBehind::passes;
  void take_cast(const Requantise&) {}
  static constexpr NoConstants constants{};

  static constexpr SumsInAccumulator sum_bits{};

  template <class Sum>
  void run(const Frame<Sum>& frame) const {
    for (std::int64_t row = 0; row * count < frame.elements(); ++row)
      std::copy_n(frame.in() + row * period + first, count, frame.out() + row * count);
  }
};

}  // namespace mase::integer
