// SPDX-License-Identifier: Apache-2.0
// A stream in another order.
#pragma once

#include "hardware/integer/steps/declarations.hpp"

namespace mase::integer {

/// Elements in another order, some left out, some repeated, alike for every `period` elements of a
/// frame: y[i] = x[places[i]], or `outside` where places[i] is -1.
struct Gather {
  std::vector<std::int64_t> places;  ///< below `period`
  std::int64_t period = 1;
  std::int64_t outside = 0;  ///< a code

  /// The most elements that always move together: every run of so many in the result, from a
  /// multiple of it on, is one such run of the input, or all outside. Divides both frames.
  std::int64_t block() const;

  std::string_view step_kind() const { return "gather"; }
  std::string_view name() const { return step_kind(); }
  std::string details() const {
    return std::to_string(places.size()) + " of every " + std::to_string(period);
  }
  static constexpr bool only_moves = true;
  std::int64_t products() const { return 0; }
  static constexpr CastBehind cast_behind = CastBehind::passes;
  void take_cast(const Requantise& cast) { outside = static_cast<std::int64_t>(cast(outside)); }
  static constexpr NoConstants constants{};

  static constexpr SumsInAccumulator sum_bits{};

  template <class Sum>
  void run(const Frame<Sum>& frame) const {
    const auto results = static_cast<std::int64_t>(places.size());
    for (std::int64_t i = 0; i < frame.elements(); ++i) {
      const std::int64_t place = places[at(i % results)];
      frame.out()[i] = place < 0 ? outside : frame.in()[i / results * period + place];
    }
  }
};
/// The gather of places in a whole frame of `elements`, with the least period.
Gather gather_of(std::vector<std::int64_t> places, std::int64_t elements, std::int64_t outside = 0);

}  // namespace mase::integer
