// SPDX-License-Identifier: Apache-2.0
// When a side of the bench pauses.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

// Either with one probability per cycle, or in spells: each with a probability of its own, as long
// as chance decides, short ones as often as long ones. A whole pause as long as the longest spell
// comes early, so that the design fills (or runs dry) to its last register even in a short run;
// after a whole pause something always moves.
class StallSource {
 public:
  StallSource(double probability, std::uint64_t longest_spell, std::uint64_t free_cycles,
              std::uint64_t seed)
      : longest_(longest_spell), state_(seed * 2862933555777941757ULL + 3037000493ULL) {
    if (state_ == 0) state_ = 1;
    if (longest_ == 0) {
      bound_ = bound_of(probability);
      return;
    }
    left_ = free_cycles;
    next_is_pause_ = true;
  }

  bool active() const { return longest_ != 0 || bound_ != 0; }

  // Whether this spell hardly lets a beat through: nobody should wait for one.
  bool halting() const { return longest_ != 0 && bound_ > kOne / 2; }

  // Once a cycle, before the streams of the side are asked.
  void tick() {
    if (longest_ != 0 && left_-- == 0) begin_spell();
  }

  bool pause() {
    if (bound_ == 0) return false;
    return draw() < bound_;
  }

 private:
  static constexpr std::uint64_t kOne = std::uint64_t{1} << 32;

  static std::uint64_t bound_of(double probability) {
    return static_cast<std::uint64_t>(probability * static_cast<double>(kOne));
  }

  // xorshift64* (Vigna 2016): 32 bits a draw.
  std::uint64_t draw() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 2685821657736338717ULL >> 32;
  }

  void begin_spell() {
    if (next_is_pause_) {
      next_is_pause_ = false;
      bound_ = kOne;
      left_ = longest_;
      return;
    }
    // Four in ten without pauses: a run takes about twice the cycles of one without stalls.
    constexpr std::array<double, 10> kinds{0, 0, 0, 0, 0.25, 0.25, 0.5, 0.9, 0.97, 1};
    const bool paused = bound_ == kOne;
    bound_ = bound_of(kinds[draw() % (paused ? 7 : kinds.size())]);
    std::uint64_t most = longest_;
    for (std::uint64_t halvings = draw() % 16; halvings > 0 && most > 1; --halvings) most /= 2;
    left_ = draw() % most;
  }

  std::uint64_t longest_, bound_ = 0, left_ = 0, state_;
  bool next_is_pause_ = false;
};
