// SPDX-License-Identifier: Apache-2.0
// Schedule: when each frame of a design leaves when nothing stalls, found by running its network.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hardware/design/building/network.hpp"

namespace mase::design {

/// The times of a run, in cycles.
struct Schedule {
  std::int64_t first = 0;           ///< first output beat of any output
  std::vector<std::int64_t> lasts;  ///< last output beat of every frame, over all outputs
  std::int64_t interval = 0;
  std::vector<Timing> outputs;  ///< every design output by itself
  /// The blocked instances; empty when the frames came. All times count from the first input beat.
  std::string deadlock;

  Timing timing() const {
    return {first, lasts.front(), interval, static_cast<std::int64_t>(lasts.size())};
  }
};

/// Runs until the interval between frames has been the same three times and for as many frames more
/// as are under way at a time. One that never settles within 16 frames (and four times those under
/// way) is the mean of the last eight, rounded up.
Schedule run(Network& network, const Design& design);

/// How a run ended that was to show something.
struct RunResult {
  bool good = false;
  std::int64_t cycles = 0;       ///< that it took
  std::optional<Timing> timing;  ///< what `predict` would say, if it went far enough to tell
};

/// Runs until so many frames have left, and as many more as are under way at a time. Whether they
/// did: anything else is a deadlock.
RunResult finishes(Network& network, const Design& design, std::size_t frames);

/// Whether the network finishes every frame of `reference` no later and the later half of them in
/// no more time; ends at the first frame that is late.
RunResult keeps_up(Network& network, const Design& design, const Schedule& reference);

}  // namespace mase::design
