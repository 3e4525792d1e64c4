// SPDX-License-Identifier: Apache-2.0
// Running a network part by part.
#pragma once

#include <optional>

#include "hardware/design/timing/playback.hpp"

namespace mase::design {

/// Runs a fresh network part by part. A beat that enters a FIFO with room asks for nothing behind
/// it, so what lies in front of a FIFO is run by itself, for as long as it takes to repeat, and
/// then what lies behind, with the beats that came. Parts that do the same at other times, the
/// blocks of a transformer, are run once. Where a FIFO turns out to be full, the parts on its sides
/// are run as one. Nothing when some part does not come to repeat: then run the network itself.
std::optional<Playback> run_parts(const Network& network);

}  // namespace mase::design
