// SPDX-License-Identifier: Apache-2.0
// Registers of ECP5's block memories, which a vendor's tool uses by itself and Yosys does not.
#pragma once

#include <string>

namespace mase::emit {

/// A netlist of Yosys for ECP5 (JSON), in which registers that follow a block memory, right behind
/// it or behind logic that only they read, are the memory's own: its words come 5 ns earlier.
/// Behind logic its other inputs are registered instead. Registers that are reset, or enabled
/// otherwise than the memory, stay as they are.
std::string with_output_registers(const std::string& netlist);

}  // namespace mase::emit
