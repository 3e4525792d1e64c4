// SPDX-License-Identifier: Apache-2.0
// A pipeline that does not take a beat in every cycle: modules of the user's.
#pragma once

#include <algorithm>

#include "hardware/design/timing/handshake/pipe.hpp"

namespace mase::design {

/// A pipeline that ends in a skid, whose registers and counters all move with the skid's ready. It
/// gives a beat for each; one that is taken is followed by interval - 1 moves that take none.
class PacedPipeHandshake final : public HandshakeOf<PacedPipeHandshake> {
 public:
  PacedPipeHandshake(int stages, std::int64_t interval, Stages kept)
      : pipe_(stages, kept), interval_(interval) {}
  bool ready(int) const override { return pipe_.enable() && wait_ == 0; }
  bool valid(int) const override { return pipe_.valid(); }
  std::int64_t quiet() const override {
    if (wait_ == 0 || !pipe_.enable()) return pipe_.quiet();
    return std::min(pipe_.quiet(), wait_ - 1);
  }
  void skip(std::int64_t edges) override {
    pipe_.skip(edges);
    wait_ = std::max<std::int64_t>(0, wait_ - edges);
  }
  void clock(std::span<const std::uint8_t> taken, std::span<const std::uint8_t> given) override;
  bool operator==(const PacedPipeHandshake&) const = default;

 private:
  Pipe pipe_;
  std::int64_t interval_, wait_ = 0;
};

inline void PacedPipeHandshake::clock(std::span<const std::uint8_t> taken,
                                      std::span<const std::uint8_t> given) {
  const bool enter = taken[0] != 0;
  if (pipe_.enable()) wait_ = enter ? interval_ - 1 : std::max<std::int64_t>(0, wait_ - 1);
  pipe_.step(enter, given[0] != 0);
}

}  // namespace mase::design
