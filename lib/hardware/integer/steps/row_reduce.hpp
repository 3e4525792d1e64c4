// SPDX-License-Identifier: Apache-2.0
// Maxima and sums of rows.
#pragma once

#include "hardware/integer/program/window.hpp"
#include "hardware/integer/steps/declarations.hpp"

namespace mase::integer {

/// Maximum or sum of every `row` elements, or the maximum of their magnitudes.
struct RowReduce {
  PoolKind kind = PoolKind::max;
  std::int64_t row = 1;
  bool of_magnitudes = false;  ///< a maximum

  std::string_view step_kind() const { return "row_reduce"; }
  std::string_view name() const {
    if (of_magnitudes) return "row_peak";
    return kind == PoolKind::max ? "row_max" : "row_sum";
  }
  std::string details() const { return "of every " + std::to_string(row); }
  static constexpr bool only_moves = false;
  std::int64_t products() const { return 0; }
  static constexpr CastBehind cast_behind = CastBehind::stays;
  static constexpr NoConstants constants{};

  static constexpr SumsInAccumulator sum_bits{};

  template <class Sum>
  void run(const Frame<Sum>& frame) const {
    frame.fill([&](std::int64_t i) {
      const std::int64_t* codes = frame.in() + i * row;
      const auto code = [&](std::int64_t k) {
        return of_magnitudes ? std::abs(codes[k]) : codes[k];
      };
      Sum result = code(0);
      for (std::int64_t k = 1; k < row; ++k)
        result = kind == PoolKind::sum ? result + code(k) : std::max<Sum>(result, code(k));
      return result;
    });
  }
};

}  // namespace mase::integer
