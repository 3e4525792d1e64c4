// SPDX-License-Identifier: Apache-2.0
// Depths of the FIFOs of a design.
#pragma once

#include "hardware/design/design.hpp"

namespace mase::design {

/// FIFO instances get depths at which the slowest step sets the interval and nothing deadlocks
/// under any stalls; those that skids can do without are taken out. How: the most beats that each
/// holds when all are unbounded and inputs come evenly, with pipelines as they are and with the
/// least that these can be relied on for; then shrunk while the schedule stays (see
/// size_fifos.cpp). Sets the timing where these runs have shown it.
void size_fifos(Design& design);

/// A part of that in a fraction of the time, for costs: as deep as when all are unbounded.
void open_fifos(Design& design);

}  // namespace mase::design
