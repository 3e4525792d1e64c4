// SPDX-License-Identifier: Apache-2.0
// The list of hardware modules.
#pragma once

#include "base/tree.hpp"

namespace mase::driver {

/// An entry for each row of the module table, with its parameters as SystemVerilog has them.
Tree module_entries();

}  // namespace mase::driver
