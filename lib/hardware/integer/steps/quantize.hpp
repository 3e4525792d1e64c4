// SPDX-License-Identifier: Apache-2.0
// The step that chooses among levels by thresholds.
#pragma once

#include <algorithm>

#include "hardware/integer/levels.hpp"
#include "hardware/integer/steps/declarations.hpp"

namespace mase::integer {

/// out = levels[n], where n counts the thresholds of its channel that are at most x. The channels
/// are repeated along the stream.
struct Quantize {
  std::string format;                ///< its text, for people
  std::vector<Wide> thresholds;      ///< those of each channel ascending, one channel after another
  std::vector<std::int64_t> levels;  ///< one more than thresholds of a channel
  std::int64_t channels = 1;

  /// Thresholds of a channel.
  std::size_t count() const { return levels.size() - 1; }
  std::int64_t operator()(Wide x, std::int64_t channel = 0) const {
    const auto first = thresholds.begin() + channel * static_cast<std::int64_t>(count());
    const auto next = std::upper_bound(first, first + static_cast<std::int64_t>(count()), x);
    return levels[static_cast<std::size_t>(next - first)];
  }

  std::string_view step_kind() const { return "quantize"; }
  std::string_view name() const { return step_kind(); }
  std::string details() const { return format; }
  static constexpr bool only_moves = false;
  std::int64_t products() const { return 0; }
  static constexpr CastBehind cast_behind = CastBehind::enters;
  bool takes_casts() const { return true; }
  /// Levels that become one need no threshold between them.
  void take_cast(const Requantise& cast);
  static constexpr NoConstants constants{};

  static constexpr SumsInAccumulator sum_bits{};

  template <class Sum>
  void run(const Frame<Sum>& frame) const {
    for (std::int64_t i = 0; i < frame.elements(); ++i)
      frame.out()[i] = (*this)(frame.in()[i], i % channels);
  }
};

/// The step that takes codes of a range, each divided by divisor * 2^frac, to levels: as many of
/// them as are within reach.
Quantize quantize_step(const Levels& levels, const Interval& range, int frac,
                       std::int64_t divisor = 1);

}  // namespace mase::integer
