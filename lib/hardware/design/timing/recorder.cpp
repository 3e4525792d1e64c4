// SPDX-License-Identifier: Apache-2.0
// Bookkeeping of frames, and the interval that they settle at.
#include "hardware/design/timing/recorder.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace mase::design {
namespace {

constexpr std::size_t least_frames = 4, most_frames = 16;

/// The last of the first `n` intervals when it repeats, else the mean of the last eight rounded up.
std::int64_t steady(const std::vector<std::int64_t>& ends, std::size_t n) {
  const std::int64_t interval = ends[n - 1] - ends[n - 2];
  if (interval == ends[n - 2] - ends[n - 3]) return interval;
  const std::size_t from = n > 8 ? n - 9 : 0;
  const auto count = static_cast<std::int64_t>(n - 1 - from);
  return (ends[n - 1] - ends[from] + count - 1) / count;
}

}  // namespace

Recorder::Recorder(const Traffic& traffic, const Design& design)
    : traffic_(traffic), design_(design) {
  MASE_CHECK(!design.outputs.empty() && !design.inputs.empty(), "a design without streams");
  for (StreamId id : design.outputs) {
    const std::int64_t beats = design.stream(id).beats();
    outputs_.push_back({id, beats, beats, -1, {}, 0});
  }
}

void Recorder::after_step() {
  ++now_;
  if (start_ < 0)
    for (StreamId id : design_.inputs)
      if (traffic_.moved(id) > 0) start_ = now_;
  bool ended = false;
  for (Output& output : outputs_) ended |= record(output);
  if (ended && least_ends() > lasts_.size()) end_frame();
}

/// Whether the output's frame ends in this cycle.
bool Recorder::record(Output& output) {
  const std::int64_t moved = traffic_.moved(output.stream);
  if (moved > 0 && output.first < 0) output.first = elapsed();
  if (moved != output.next) return false;
  output.ends.push_back(elapsed());
  output.next += output.frame;
  return true;
}

void Recorder::end_frame() {
  lasts_.push_back(elapsed());
  in_phase_ = true;
  for (Output& output : outputs_) {
    const std::int64_t moved = traffic_.moved(output.stream);
    in_phase_ &= moved - output.moved == output.frame;
    output.moved = moved;
  }
}

void Recorder::repeat(std::int64_t until) {
  const std::size_t n = lasts_.size();
  const std::int64_t since = lasts_[n - 2], interval = lasts_[n - 1] - since;
  if (lasts_[n - 1] + interval > until) {
    now_ = start_ + until + 1;
    return;
  }
  now_ += interval;
  lasts_.push_back(elapsed());
  // In phase, exactly one frame of every output ended since then.
  for (Output& output : outputs_) output.ends.push_back(output.ends.back() + interval);
}

std::size_t Recorder::least_ends() const {
  std::size_t least = outputs_[0].ends.size();
  for (const Output& output : outputs_) least = std::min(least, output.ends.size());
  return least;
}

std::size_t Recorder::most() const {
  std::size_t most = 0;
  for (const Output& output : outputs_) most = std::max(most, output.ends.size());
  return most;
}

std::size_t Recorder::in_flight() const {
  if (frames() < 2) return 0;
  return static_cast<std::size_t>(lasts_[0] / std::max<std::int64_t>(1, lasts_[1] - lasts_[0]));
}

bool Recorder::settled(std::size_t frames) const {
  const std::size_t same = least_frames - 1 + in_flight();
  if (frames <= same) return false;
  const std::int64_t interval = lasts_[frames - 1] - lasts_[frames - 2];
  for (std::size_t f = frames - 1; f > frames - 1 - same; --f)
    if (lasts_[f] - lasts_[f - 1] != interval) return false;
  return true;
}

bool Recorder::given_up(std::size_t frames) const {
  return frames >= most_frames + 4 * in_flight();
}

std::int64_t Recorder::first() const {
  std::int64_t first = outputs_[0].first;
  for (const Output& output : outputs_) first = std::min(first, output.first);
  return first;
}

Timing Recorder::timing(std::size_t frames) const {
  return {first(), lasts_.front(), steady(lasts_, frames), static_cast<std::int64_t>(frames)};
}

Schedule Recorder::schedule() const {
  Schedule result{first(), lasts_, steady(lasts_, frames()), {}, {}};
  for (const Output& output : outputs_)
    result.outputs.push_back({output.first, output.ends[0], steady(output.ends, output.ends.size()),
                              static_cast<std::int64_t>(output.ends.size())});
  return result;
}

}  // namespace mase::design
