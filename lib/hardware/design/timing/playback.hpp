// SPDX-License-Identifier: Apache-2.0
// Playback: what a network does at the ports of its design, read off traces.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "hardware/design/building/network.hpp"
#include "hardware/design/timing/trace.hpp"

namespace mase::design {

/// What a network does at its ports, from traces instead of handshake models: `step` knows of no
/// beats but those.
class Playback : public Traffic {
 public:
  /// The most beats that a FIFO has held, as a function of time: from this cycle on.
  struct Most {
    std::int64_t cycle, beats;
  };

  /// For a design with so many streams; `most` is by watch.
  Playback(std::size_t streams, const std::vector<std::pair<StreamId, Trace>>& ports,
           std::vector<std::vector<Most>> most, std::int64_t interval);

  std::int64_t step() override;
  std::int64_t pause() const override;
  void pass(std::int64_t cycles) override { cycle_ += cycles; }
  std::int64_t cycle() const override { return cycle_; }
  std::int64_t moved(StreamId stream) const override {
    return moved_[static_cast<std::size_t>(stream)];
  }
  /// By the number of the watch, up to now.
  std::int64_t most_between(std::size_t number) const;

 private:
  struct Port {
    std::size_t stream;
    Trace::Cursor cursor;
  };
  std::vector<Port> ports_;
  std::vector<std::int64_t> moved_;  ///< of every stream
  std::vector<std::vector<Most>> most_;
  std::int64_t cycle_ = 0;
};

}  // namespace mase::design
