// SPDX-License-Identifier: Apache-2.0
// Recorder: when the frames of a design's outputs begin and end.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "hardware/design/timing/schedule.hpp"

namespace mase::design {

/// All times but `cycles` count from the first input beat.
class Recorder {
 public:
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max() / 2;

  Recorder(const Traffic& traffic, const Design& design);

  void after_step();
  void pass(std::int64_t cycles) { now_ += cycles; }  ///< without a beat
  /// After a frame: whether every output is as far as one frame before.
  bool in_phase() const { return in_phase_; }
  /// Instead of steps, for traffic in the state in which it was one frame before, in phase: what
  /// happened since then happens again. Stops where `until` has passed.
  void repeat(std::int64_t until);

  std::int64_t elapsed() const { return start_ < 0 ? 0 : now_ - start_; }
  std::int64_t cycles() const { return now_ + 1; }
  /// Frames that all outputs have given, and that the fastest has.
  std::size_t frames() const { return lasts_.size(); }
  std::size_t most() const;
  /// Frames that are under way at a time: an interval may depend on so many frames before it.
  std::size_t in_flight() const;
  /// Whether the interval is known after so many frames: it repeats, or there was enough of it.
  bool enough(std::size_t frames) const { return settled(frames) || given_up(frames); }

  /// The last beat of every frame over all outputs.
  const std::vector<std::int64_t>& lasts() const { return lasts_; }
  std::int64_t first() const;
  Timing timing(std::size_t frames) const;  ///< as the first frames show it
  Schedule schedule() const;

 private:
  struct Output {
    StreamId stream;
    std::int64_t frame;  ///< beats
    std::int64_t next;   ///< beats at the end of the frame that comes
    std::int64_t first = -1;
    std::vector<std::int64_t> ends;
    std::int64_t moved = 0;  ///< beats, when the last frame of all outputs was over
  };
  bool record(Output& output);
  std::size_t least_ends() const;
  void end_frame();
  bool settled(std::size_t frames) const;
  bool given_up(std::size_t frames) const;

  const Traffic& traffic_;
  const Design& design_;
  std::int64_t start_ = -1, now_ = -1;  ///< cycles
  std::vector<Output> outputs_;
  std::vector<std::int64_t> lasts_;
  bool in_phase_ = false;
};

}  // namespace mase::design
