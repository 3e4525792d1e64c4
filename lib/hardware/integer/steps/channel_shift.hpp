// SPDX-License-Identifier: Apache-2.0
// Shifts of channels to one binary point.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace mase::integer {

/// y[i] = x[i] * 2^left[channel]: brings the accumulators of channels whose weights have fraction
/// bits of their own to one binary point. The codes of x are read at that of their channel, though
/// their type has the finest.
struct ChannelShift {
  std::vector<int> left;  ///< one for each channel, none negative

  std::string_view step_kind() const { return "channel_shift"; }
  std::string_view name() const { return step_kind(); }
  std::string details() const {
    const auto [least, most] = std::ranges::minmax(left);
    return "<< " + std::to_string(least) + " to " + std::to_string(most);
  }
  static constexpr bool only_moves = false;
};

}  // namespace mase::integer
