// SPDX-License-Identifier: Apache-2.0
// Shifts of channels to one binary point.
#pragma once

#include "hardware/integer/steps/declarations.hpp"

namespace mase::integer {

/// y[i] = x[i] * 2^left[channel]: brings the accumulators of channels whose weights have fraction
/// bits of their own to one binary point. The codes of x are read at that of their channel, though
/// their type has the finest.
struct ChannelShift {
  std::vector<int> left;  ///< one for each channel, none negative

  std::string_view step_kind() const { return "channel_shift"; }
  std::string_view name() const { return step_kind(); }
  std::string details() const;
  static constexpr bool only_moves = false;
  std::int64_t products() const { return 0; }
  static constexpr CastBehind cast_behind = CastBehind::merges;

  template <class Self, class See>
  static void constants(Self& self, const FixedType&, See&& see) {
    see(distances(self.left));
  }
  static constexpr bool replaceable = false;
  std::optional<Interval> bounds(const Interval& input) const;

  static constexpr SumsInAccumulator sum_bits{};

  template <class Sum>
  void run(const Frame<Sum>& frame) const {
    std::size_t next = 0;
    frame.fill([&](std::int64_t i) {
      const std::size_t channel = next;
      next = next + 1 == left.size() ? 0 : next + 1;
      return static_cast<Sum>(frame.in()[i]) * (Sum{1} << left[channel]);
    });
  }
};

}  // namespace mase::integer
