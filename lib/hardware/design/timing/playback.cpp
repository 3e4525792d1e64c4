// SPDX-License-Identifier: Apache-2.0
// Walking along the traces of the ports.
#include "hardware/design/timing/playback.hpp"

#include <algorithm>

namespace mase::design {

Playback::Playback(std::size_t streams, const std::vector<std::pair<StreamId, Trace>>& ports,
                   std::vector<std::vector<Most>> most, std::int64_t interval)
    : moved_(streams, 0), most_(std::move(most)) {
  input_interval = interval;
  for (const auto& [id, trace] : ports)
    ports_.push_back({static_cast<std::size_t>(id), Trace::Cursor(trace)});
}

std::int64_t Playback::step() {
  std::int64_t beats = 0;
  for (Port& port : ports_) {
    if (port.cursor.cycle() != cycle_) continue;
    port.cursor.advance();
    ++moved_[port.stream];
    ++beats;
  }
  ++cycle_;
  return beats;
}

std::int64_t Playback::pause() const {
  std::int64_t next = forever;
  for (const Port& port : ports_) next = std::min(next, port.cursor.cycle());
  return next == forever ? forever : next - cycle_;
}

std::int64_t Playback::most_between(std::size_t number) const {
  std::int64_t most = 0;
  for (const Most& entry : most_[number])
    if (entry.cycle < cycle_) most = entry.beats;
  return most;
}

}  // namespace mase::design
