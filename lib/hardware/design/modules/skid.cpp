// SPDX-License-Identifier: Apache-2.0
// Two entries, and nothing that takes long.
#include "hardware/design/modules/skid.hpp"

#include "hardware/design/modules/primitives.hpp"
#include "hardware/design/timing/handshake/pipe.hpp"

namespace mase::design {

std::unique_ptr<Handshake> SkidModule::handshake(Stages) const {
  return std::make_unique<SkidHandshake>();
}

Cost SkidModule::cost(const Design&) const { return skid_cost(width); }

Paths SkidModule::paths(const Technology&) const { return {}; }

ModuleRow SkidModule::row() {
  return row_of_module<SkidModule>(
      {.folder = "plumbing", .doc = "two-entry buffer", .inputs = {"in"}, .outputs = {"out"}});
}

}  // namespace mase::design
