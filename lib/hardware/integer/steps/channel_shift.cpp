// SPDX-License-Identifier: Apache-2.0
// What follows from the distances of channels.
#include "hardware/integer/steps/channel_shift.hpp"

#include <algorithm>

namespace mase::integer {

std::string ChannelShift::details() const {
  const auto [least, most] = std::ranges::minmax(left);
  return "<< " + std::to_string(least) + " to " + std::to_string(most);
}

std::optional<Interval> ChannelShift::bounds(const Interval& input) const {
  return shifted(input, std::ranges::max(left));
}

}  // namespace mase::integer
