// SPDX-License-Identifier: Apache-2.0
// Building blocks of the handshake models: the skid buffer, and the pipeline with one enable that
// ends in a skid, which almost every module is made of.
#pragma once

#include <bit>

#include "hardware/design/timing/handshake.hpp"

namespace mase::design {

/// The next place of `end` that follow each other in a circle.
inline void count_up(std::int64_t& index, std::int64_t end) {
  index = index + 1 == end ? 0 : index + 1;
}

/// Beats inside a two-entry buffer: state of hw_templates/plumbing/mase_skid.
class Skid {
 public:
  bool ready() const { return count_ < 2; }
  bool valid() const { return count_ > 0; }
  /// One rising edge: a beat came in (only when ready), a beat went out (only when valid).
  void step(bool in, bool out) { count_ += static_cast<int>(in) - static_cast<int>(out); }
  bool operator==(const Skid&) const = default;

 private:
  int count_ = 0;
};

/// `stages` registers (at most 64) with one enable, the ready of the skid that follows them: the
/// first beat is valid at the output stages + 1 cycles after it entered.
class Pipe {
 public:
  Pipe(int stages, Stages kept);
  bool enable() const { return skid_.ready(); }
  bool valid() const { return skid_.valid(); }
  /// As those of a handshake model: until the first beat is at the skid.
  std::int64_t quiet() const {
    return beats_ == 0 || !enable() ? forever : stages_ - std::bit_width(beats_);
  }
  void skip(std::int64_t edges) {
    if (beats_ != 0) beats_ <<= edges;
  }
  /// One rising edge: `enter` (only when enabled) puts a beat in front, `given` takes one at the
  /// end.
  void step(bool enter, bool given);
  bool operator==(const Pipe&) const = default;

 private:
  int stages_;
  std::uint64_t beats_ = 0;  ///< bit i: stage i holds a beat
  Skid skid_;
};

inline void Pipe::step(bool enter, bool given) {
  if (!enable()) return skid_.step(false, given);
  if (stages_ == 0) return skid_.step(enter, given);
  const std::uint64_t last = std::uint64_t{1} << (stages_ - 1);
  const bool leaves = (beats_ & last) != 0;
  beats_ = (beats_ & (last - 1)) << 1 | static_cast<std::uint64_t>(enter);
  skid_.step(leaves, given);
}

/// skid: one input, one output.
class SkidHandshake final : public HandshakeOf<SkidHandshake> {
 public:
  bool ready(int) const override { return skid_.ready(); }
  bool valid(int) const override { return skid_.valid(); }
  std::int64_t quiet() const override { return forever; }
  void clock(std::span<const std::uint8_t> taken, std::span<const std::uint8_t> given) override;
  bool operator==(const SkidHandshake&) const = default;

 private:
  Skid skid_;
};

/// A module that takes a beat whenever its pipeline moves and gives one for each: cast, lookup,
/// scale_shift and other modules without counters.
class PipeHandshake final : public HandshakeOf<PipeHandshake> {
 public:
  PipeHandshake(int stages, Stages kept) : pipe_(stages, kept) {}
  bool ready(int) const override { return pipe_.enable(); }
  bool valid(int) const override { return pipe_.valid(); }
  std::int64_t quiet() const override { return pipe_.quiet(); }
  void skip(std::int64_t edges) override { pipe_.skip(edges); }
  void clock(std::span<const std::uint8_t> taken, std::span<const std::uint8_t> given) override;
  bool operator==(const PipeHandshake&) const = default;

 private:
  Pipe pipe_;
};

}  // namespace mase::design
