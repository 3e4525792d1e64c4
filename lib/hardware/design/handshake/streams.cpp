// SPDX-License-Identifier: Apache-2.0
// State changes of the handshake models that store, split, join and re-cut streams.
#include "hardware/design/handshake/streams.hpp"

namespace mase::design {
namespace {

void count_up(std::int64_t& index, std::int64_t end) { index = index + 1 == end ? 0 : index + 1; }

}  // namespace

void NarrowHandshake::clock(Moves taken, Moves given) {
  const bool leaves = acts();
  pipe_.step(leaves, given[0] != 0);
  if (leaves) lanes_ -= out_;
  if (taken[0] != 0) lanes_ += in_;
}

void ConcatHandshake::clock(Moves taken, Moves given) {
  const bool enters = taken[0] != 0 || taken[1] != 0;
  skid_.step(enters, given[0] != 0);
  if (enters) count_up(index_, total_);
}

void SliceHandshake::clock(Moves taken, Moves given) {
  const bool inside = index_ >= first_ && index_ < first_ + count_;
  skid_.step(taken[0] != 0 && inside, given[0] != 0);
  if (taken[0] != 0) count_up(index_, beats_);
}

void InsertHandshake::clock(Moves taken, Moves given) {
  const bool load = ready(0), leaves = acts();
  pipe_.step(leaves, given[0] != 0);
  if (leaves) count_up(index_, row_);
  if (load) full_ = taken[0] != 0;
}

void GatherHandshake::clock(Moves taken, Moves given) {
  const bool issue = acts();
  pipe_.step(issue, given[0] != 0);
  if (taken[0] != 0) {
    count_up(written_, in_);
    if (written_ == 0) ++full_;
  }
  if (issue) {
    count_up(read_, out_);
    if (read_ == 0) --full_;
  }
}

void JoinHandshake::clock(Moves taken, Moves given) {
  const bool fire = acts();
  for (int i = 0; i < 2; ++i) skids_[i].step(taken[static_cast<std::size_t>(i)] != 0, fire);
  pipe_.step(fire, given[0] != 0);
}

}  // namespace mase::design
