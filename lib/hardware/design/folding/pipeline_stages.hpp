// SPDX-License-Identifier: Apache-2.0
// Registers on the way to and from multipliers, where a design would miss its clock without them.
#pragma once

#include "hardware/design/clock.hpp"
#include "hardware/design/design.hpp"

namespace mase::design {

/// The clock that a design is to reach.
struct ClockTarget {
  double mhz = default_clock_mhz;
  const Technology* technology = &technology_of(default_technology);
};

/// The folds of a design with one of each kind of stage that shortens predicted paths which take
/// more than the clock's period. Intervals stay, latencies grow. A technology without wires (xc7)
/// gets the stages of ECP5, whose cells and wires are slower: some more than it may need.
Folding with_pipeline_stages(const Design& design, const ClockTarget& target);

}  // namespace mase::design
