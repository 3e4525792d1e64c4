// SPDX-License-Identifier: Apache-2.0
// The step that rounds to the numbers of an element format.
#pragma once

#include <algorithm>

#include "hardware/integer/levels.hpp"
#include "hardware/integer/steps/declarations.hpp"

namespace mase::integer {

/// out = levels[n], where n counts the thresholds that are at most x.
struct Quantize {
  std::string format;  ///< its text, for people
  std::vector<Wide> thresholds;
  std::vector<std::int64_t> levels;  ///< one more

  std::int64_t operator()(Wide x) const {
    const auto next = std::ranges::upper_bound(thresholds, x);
    return levels[static_cast<std::size_t>(next - thresholds.begin())];
  }

  std::string_view step_kind() const { return "quantize"; }
  std::string_view name() const { return step_kind(); }
  std::string details() const { return format; }
  static constexpr bool only_moves = false;
  std::int64_t products() const { return 0; }
  static constexpr CastBehind cast_behind = CastBehind::enters;
  bool takes_casts() const { return true; }
  /// Levels that become one need no threshold between them.
  void take_cast(const Requantise& cast) {
    std::vector<Wide> kept;
    std::vector<std::int64_t> codes{static_cast<std::int64_t>(cast(levels.front()))};
    for (std::size_t i = 0; i < thresholds.size(); ++i) {
      const auto code = static_cast<std::int64_t>(cast(levels[i + 1]));
      if (code == codes.back()) continue;
      kept.push_back(thresholds[i]);
      codes.push_back(code);
    }
    thresholds = std::move(kept);
    levels = std::move(codes);
  }
  static constexpr NoConstants constants{};

  static constexpr SumsInAccumulator sum_bits{};

  template <class Sum>
  void run(const Frame<Sum>& frame) const {
    for (std::int64_t i = 0; i < frame.elements(); ++i) frame.out()[i] = (*this)(frame.in()[i]);
  }
};

/// The step that takes codes of a range, each divided by divisor * 2^frac, to levels: as many of
/// them as are within reach.
Quantize quantize_step(const Levels& levels, const Interval& range, int frac,
                       std::int64_t divisor = 1);

}  // namespace mase::integer
