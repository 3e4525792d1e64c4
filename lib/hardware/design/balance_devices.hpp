// SPDX-License-Identifier: Apache-2.0
// The cuts of a design into parts of equal area with few bits between them.
#pragma once

#include <cstdint>

#include "hardware/design/design.hpp"

namespace mase::design {

/// By how much the largest part may be larger than it must be.
inline constexpr double balance_slack = 0.1;

/// Cuts the program's order into so many parts. Among the cuts whose largest part has at most
/// `balance_slack` more area than it must have, it takes one with the fewest bits in all links: a
/// link has the bits of a beat. It finds it exactly, by dynamic programming over the cuts, with
/// the areas that the layers of `design` have. A layer is not cut. Error(Fault::config) if there
/// are fewer layers than devices.
Distribution balance_devices(const Design& design, std::int64_t devices);

}  // namespace mase::design
