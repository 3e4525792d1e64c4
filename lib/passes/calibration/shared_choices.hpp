// SPDX-License-Identifier: Apache-2.0
// Choices for ports that several processes share.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "passes/calibration/known_choices.hpp"
#include "passes/statistics/shared_sources.hpp"

namespace mase::passes {

/// The choices for the ports that have these sources. `choose` makes them for some of the ports, in
/// their order, as it would for all; with companions each process chooses for its own.
std::vector<PortChoice> share_choices(
    const SharedSources& sources,
    const std::function<std::vector<PortChoice>(const std::vector<std::size_t>& ports)>& choose);

}  // namespace mase::passes
