// SPDX-License-Identifier: Apache-2.0
// Constant factors and summands along a stream.
#pragma once

#include "hardware/integer/steps/declarations.hpp"

namespace mase::integer {

/// y[i] = scale[i] * x[i] + shift[i], the constants repeated along the stream: one for each
/// channel, or one for each element of a frame.
struct ScaleShift {
  FixedType scale_type;
  Codes scale;
  std::vector<Wide> shift;  ///< aligned to the accumulator; empty without
  int shift_width = 0;      ///< as a linear's bias_width

  std::string_view step_kind() const { return "scale_shift"; }
  std::string_view name() const { return step_kind(); }
  std::string details() const { return type_text(scale_type); }
  static constexpr bool only_moves = false;
  std::int64_t products() const { return 1; }
  static constexpr CastBehind cast_behind = CastBehind::merges;

  template <class Self, class See>
  static void constants(Self& self, const FixedType&, See&& see) {
    see(factors(self.scale, self.scale_type));
    see(summands(self.shift, self.shift_width));
  }
  static constexpr bool replaceable = true;
  std::optional<Interval> bounds(const Interval& input) const {
    return matrix_interval(scale, 1, shift, input);
  }

  static constexpr SumsInAccumulator sum_bits{};

  template <class Sum>
  void run(const Frame<Sum>& frame) const {
    std::size_t next = 0;
    frame.fill([&](std::int64_t i) {
      const std::size_t channel = next;
      next = next + 1 == scale.size() ? 0 : next + 1;
      const Sum summand = shift.empty() ? Sum{0} : static_cast<Sum>(shift[channel]);
      return static_cast<Sum>(scale[channel]) * frame.in()[i] + summand;
    });
  }
};

}  // namespace mase::integer
