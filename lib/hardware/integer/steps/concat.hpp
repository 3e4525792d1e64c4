// SPDX-License-Identifier: Apache-2.0
// Streams one after the other.
#pragma once

#include "hardware/integer/steps/declarations.hpp"

namespace mase::integer {

/// Inputs in turn, `rows` times in a frame: elements / rows of each.
struct Concat {
  std::int64_t rows = 1;

  std::string_view step_kind() const { return "concat"; }
  std::string_view name() const { return step_kind(); }
  std::string details() const { return ""; }
  static constexpr bool only_moves = true;
  std::int64_t products() const { return 0; }
  static constexpr CastBehind cast_behind = CastBehind::passes;
  void take_cast(const Requantise&) {}
  static constexpr NoConstants constants{};

  static constexpr SumsInAccumulator sum_bits{};

  template <class Sum>
  void run(const Frame<Sum>& frame) const {
    const std::int64_t all = frame.elements() / rows;
    std::int64_t first = 0;
    for (std::size_t i = 0; i < frame.inputs(); ++i) {
      const std::int64_t width = frame.input_elements(i) / rows;
      for (std::int64_t row = 0; row < rows; ++row)
        std::copy_n(frame.in(i) + row * width, width, frame.out() + row * all + first);
      first += width;
    }
  }
};

}  // namespace mase::integer
