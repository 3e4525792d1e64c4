// SPDX-License-Identifier: Apache-2.0
// The parameters that modules share which reduce beats lane by lane, and what a lane takes.
#pragma once

#include "hardware/design/clock.hpp"
#include "hardware/design/cost.hpp"
#include "hardware/design/modules/requantisation.hpp"

namespace mase::design {

/// Maxima or sums, which are rounded at the end.
struct LaneReduction : Requantisation {
  std::int64_t lanes = 1;
  int in_bits = 8;
  bool in_signed = true, sums = false;
  std::int64_t sum_bits = 8;

  static constexpr auto fields() {
    return std::tuple_cat(
        std::tuple{
            Field{"LANES", &LaneReduction::lanes, "elements of a beat"}.at_least(1),
            Field{"IW", &LaneReduction::in_bits, "bits of an element that comes"}.at_least(1),
            Field{"ISIGNED", &LaneReduction::in_signed, "whether it has a sign"},
            Field{"OP", &LaneReduction::sums, "0: maxima, 1: sums"},
            Field{"ACCW", &LaneReduction::sum_bits, "bits of a maximum or a sum"}.at_least(1)},
        Requantisation::fields());
  }

  /// All lanes with rounding and the skid. Every lane keeps so many results at a time, in LUT RAM
  /// where they are several.
  Cost lanes_cost(std::int64_t kept) const;
  /// The maximum or sum of one lane, and its rounding.
  Paths lane_paths(const Technology& technology) const;
};

}  // namespace mase::design
