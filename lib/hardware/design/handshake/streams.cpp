// SPDX-License-Identifier: Apache-2.0
// State changes of the handshake models that store, split, join and re-cut streams.
#include "hardware/design/handshake/streams.hpp"

#include <algorithm>

namespace mase::design {
namespace {

using Moves = std::span<const std::uint8_t>;

void count_up(std::int64_t& index, std::int64_t end) { index = index + 1 == end ? 0 : index + 1; }

}  // namespace

void FifoHandshake::clock(Moves taken, Moves given) {
  const bool move = !valid_ || given[0] != 0, pull = count_ != 0 && move;
  count_ += static_cast<int>(taken[0] != 0) - static_cast<int>(pull);
  if (!move) return;
  valid_ = block_ ? word_valid_ : pull;
  word_valid_ = block_ && pull;
}

bool ForkHandshake::ready(int) const {
  return std::all_of(skids_.begin(), skids_.end(), [](const Skid& skid) { return skid.ready(); });
}

void ForkHandshake::clock(Moves taken, Moves given) {
  for (std::size_t i = 0; i < skids_.size(); ++i) skids_[i].step(taken[0] != 0, given[i] != 0);
}

void NarrowHandshake::clock(Moves taken, Moves given) {
  const bool leaves = acts();
  pipe_.step(leaves, given[0] != 0);
  if (leaves) lanes_ -= out_;
  if (taken[0] != 0) lanes_ += in_;
}

void WidenHandshake::clock(Moves taken, Moves given) {
  const bool complete = taken[0] != 0 && completes();
  if (taken[0] != 0) lanes_ += in_;
  if (complete) lanes_ -= out_;
  skid_.step(complete, given[0] != 0);
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
