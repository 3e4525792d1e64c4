// SPDX-License-Identifier: Apache-2.0
// Maxima and sums over windows.
#pragma once

#include "hardware/integer/program/window.hpp"
#include "hardware/integer/steps/declarations.hpp"

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
  std::int64_t products() const { return 0; }
  static constexpr CastBehind cast_behind = CastBehind::merges;
  static constexpr NoConstants constants{};

  static constexpr SumsInAccumulator sum_bits{};

  template <class Sum>
  void run(const Frame<Sum>& frame) const {
    std::int64_t i = 0;
    window.for_each_place([&](std::int64_t y, std::int64_t x) {
      for (std::int64_t c = 0; c < window.channels; ++c) frame.put(i++, reduced(frame, y, x, c));
    });
  }

 private:
  template <class Sum>
  Sum reduced(const Frame<Sum>& frame, std::int64_t y, std::int64_t x, std::int64_t c) const {
    Sum result = 0;
    bool first = true;
    window.for_each_tap(y, x, [&](std::int64_t pixel, std::int64_t) {
      const Sum code = frame.in()[pixel * window.channels + c];
      if (kind == PoolKind::sum)
        result += code;
      else if (first || code > result)
        result = code;
      first = false;
    });
    return result;
  }
};

}  // namespace mase::integer
