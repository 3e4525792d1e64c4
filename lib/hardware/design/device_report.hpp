// SPDX-License-Identifier: Apache-2.0
// What every device of a design takes, and the links between them.
#pragma once

#include <cstdint>

#include "hardware/design/design.hpp"
#include "passes/pass.hpp"

namespace mase::design {

/// A table and `devices` of the info: the nodes and the resources of every device, and the links
/// that leave it. Nothing for a design on one device.
void report_devices(const Design& design, passes::Result& result);

/// Error(Fault::config) if a link takes more cycles for a frame than there may be, with the width
/// that would do.
void check_links(const Design& design, std::int64_t initiation_interval);

}  // namespace mase::design
