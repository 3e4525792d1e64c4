// SPDX-License-Identifier: Apache-2.0
// Products of two streams of matrices.
#pragma once

#include "hardware/integer/steps/declarations.hpp"

namespace mase::integer {

/// y[r][o] = sum_i a[r][i] * b[set][o][i] of two streams: rows of the first by the matrices of the
/// second, of which a frame has `sets`. Each set serves `repeat` rows, one set after the other,
/// over and over.
struct Matmul {
  std::int64_t inputs = 1, outputs = 1, sets = 1, repeat = 1;
  /// Distance in the second stream of neighbours; 0 along what has one.
  std::int64_t input_step = 1, output_step = 0, set_step = 0;

  std::int64_t set_of(std::int64_t row) const { return row / repeat % sets; }
  std::int64_t place(std::int64_t set, std::int64_t output, std::int64_t input) const {
    return set * set_step + output * output_step + input * input_step;
  }

  std::string_view step_kind() const { return "matmul"; }
  std::string_view name() const { return step_kind(); }
  std::string details() const {
    return std::to_string(outputs) + "x" + std::to_string(inputs) + " sets " +
           std::to_string(sets) + " rows " + std::to_string(repeat);
  }
  static constexpr bool only_moves = false;
  static constexpr bool decodes_inputs = true;
  std::int64_t products() const { return inputs; }
  static constexpr CastBehind cast_behind = CastBehind::merges;
  static constexpr NoConstants constants{};

  static constexpr SumsInAccumulator sum_bits{};

  template <class Sum>
  void run(const Frame<Sum>& frame) const {
    frame.fill([&](std::int64_t y) {
      const std::int64_t row = y / outputs, output = y % outputs, set = set_of(row);
      Sum sum = 0;
      for (std::int64_t i = 0; i < inputs; ++i)
        sum += static_cast<Sum>(frame.in(0)[row * inputs + i]) * frame.in(1)[place(set, output, i)];
      return sum;
    });
  }
};

}  // namespace mase::integer
