// SPDX-License-Identifier: Apache-2.0
// The beat counter of a depthwise multiply-accumulate.
#include "hardware/design/timing/handshake/depthwise.hpp"

namespace mase::design {

void DepthwiseHandshake::clock(std::span<const std::uint8_t> taken,
                               std::span<const std::uint8_t> given) {
  const bool block_end = beat_ == beats_ - 1;
  pipe_.step(taken[0] != 0 && block_end, given[0] != 0);
  if (taken[0] != 0) beat_ = block_end ? 0 : beat_ + 1;
}

}  // namespace mase::design
