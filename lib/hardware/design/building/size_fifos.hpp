// SPDX-License-Identifier: Apache-2.0
// Depths of the FIFOs of a design.
#pragma once

#include <cstdint>
#include <vector>

#include "hardware/design/design.hpp"

namespace mase::design {

/// The interval of the design when no stream has to wait for another one.
std::int64_t best_interval(const Design& design);

/// Takes FIFOs out, which then join no streams any more; their places ascend.
void remove_fifos(Design& design, const std::vector<std::size_t>& fifos);

/// FIFO instances get depths at which the slowest step sets the interval and nothing deadlocks
/// under any stalls; those that skids can do without are taken out. How: the most beats that each
/// holds when all are unbounded and inputs come evenly, with pipelines as they are and with the
/// least that these can be relied on for; then shrunk while the schedule stays (see
/// size_fifos.cpp). Sets the timing where these runs have shown it.
void size_fifos(Design& design);

/// A part of that in a fraction of the time, for costs: as deep as when all are unbounded.
void open_fifos(Design& design);

}  // namespace mase::design
