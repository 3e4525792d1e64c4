// SPDX-License-Identifier: Apache-2.0
// Shifts of channels to one binary point.
#pragma once

#include <vector>

namespace mase::integer {

/// y[i] = x[i] * 2^left[channel]: brings the accumulators of channels whose weights have fraction
/// bits of their own to one binary point. The codes of x are read at that of their channel, though
/// their type has the finest.
struct ChannelShift {
  std::vector<int> left;  ///< one for each channel, none negative
};

}  // namespace mase::integer
