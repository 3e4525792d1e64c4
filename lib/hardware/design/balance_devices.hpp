// SPDX-License-Identifier: Apache-2.0
// The cuts of a design into parts of equal size with few bits between them.
#pragma once

#include <cstdint>
#include <vector>

#include "hardware/design/design.hpp"
#include "hardware/design/device_limits.hpp"

namespace mase::design {

/// By how much the largest part may be larger than it must be.
inline constexpr double balance_slack = 0.1;

/// What a cut has to respect besides the devices' number.
struct CutDemands {
  LinkSettings links = {};
  std::int64_t interval = 1;     ///< cycles for a frame: links need not be faster
  DeviceLimits limits = {};      ///< that every part has to keep
  std::vector<Cost> taken = {};  ///< by device, beside its layers
};

/// Cuts the program's order into so many parts; a layer is not cut. The size of a part is the share
/// that its layers, as they are in `design`, take of its device's limits, or their area where there
/// are none. It chooses, in this order:
/// 1. only cuts whose parts keep within the limits,
/// 2. of these, those whose slowest link takes the fewest cycles for a frame, `interval` at least,
/// 3. of these, those whose largest part is at most `balance_slack` larger than it must be,
/// 4. of these, one with the fewest bits in all links: a link has the bits of a beat.
/// Each is exact, by dynamic programming over the cuts. Error(Fault::config) if there are fewer
/// layers than devices, or if no cut keeps within the limits, with the device and the excess of the
/// cut that comes nearest.
Distribution balance_devices(const Design& design, std::int64_t devices,
                             const CutDemands& demands = {});

/// The design with its layers on so many devices, which keep within the limits with all that lies
/// between layers. What that takes is known when a cut is built: then a cut is chosen again that
/// leaves room for it. Error(Fault::config) as above.
Design build_balanced(const Design& design, std::int64_t devices, CutDemands demands);

}  // namespace mase::design
