// SPDX-License-Identifier: Apache-2.0
// Registers on the operands' way to multipliers, where a design would miss its clock without them.
#pragma once

#include "hardware/design/clock.hpp"
#include "hardware/design/design.hpp"

namespace mase::design {

/// The clock that a design is to reach.
struct ClockTarget {
  double mhz = default_clock_mhz;
  const Technology* technology = &technology_of(default_technology);
};

/// The folds of a design; those whose longest predicted path takes more than the clock's period
/// have an operand stage where that makes it shorter. Intervals stay, latencies grow by the stage.
Folding with_operand_stages(const Design& design, const ClockTarget& target);

}  // namespace mase::design
