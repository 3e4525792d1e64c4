// SPDX-License-Identifier: Apache-2.0
// Modules of the user's, as [custom_ops.NAME.hardware] states them.
#pragma once

#include "hardware/design/module_table.hpp"

namespace mase::ir {
struct CustomHardware;
}

namespace mase::design {

struct StepRow;

/// Its row, with the handshake, cycles and cost that it states.
ModuleRow external_module(const ir::CustomHardware& hardware);
/// The step that becomes it.
StepRow external_step();

}  // namespace mase::design
