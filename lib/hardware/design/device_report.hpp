// SPDX-License-Identifier: Apache-2.0
// What every device of a design takes, and the links between them.
#pragma once

#include "hardware/design/design.hpp"
#include "passes/pass.hpp"

namespace mase::design {

/// A table and `devices` of the info: the nodes and the resources of every device, and the links
/// that leave it. Nothing for a design on one device.
void report_devices(const Design& design, passes::Result& result);

}  // namespace mase::design
