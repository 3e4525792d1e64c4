// SPDX-License-Identifier: Apache-2.0
// State changes of the handshake models that store, split, join and re-cut streams.
#include "hardware/design/timing/handshake/streams.hpp"

namespace mase::design {
void NarrowHandshake::clock(Moves taken, Moves given) {
  const bool leaves = acts();
  pipe_.step(leaves, given[0] != 0);
  if (leaves) lanes_ -= out_;
  if (taken[0] != 0) lanes_ += in_;
}

void JoinHandshake::clock(Moves taken, Moves given) {
  const bool fire = acts();
  for (int i = 0; i < 2; ++i) skids_[i].step(taken[static_cast<std::size_t>(i)] != 0, fire);
  pipe_.step(fire, given[0] != 0);
}

}  // namespace mase::design
