// SPDX-License-Identifier: Apache-2.0
// Latency and interval of a finished design.
#pragma once

#include "hardware/design/design.hpp"

namespace mase::design {

/// Runs the handshake models without stalls until the interval between frames is steady; internal
/// error naming the blocked instances when the design deadlocks.
Timing predict(const Design& design);

}  // namespace mase::design
