// SPDX-License-Identifier: Apache-2.0
// The AXI wrapper as an IP core: component.xml in IP-XACT (IEEE 1685-2009), as Vivado's catalogue
// and IP integrator read it.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "hardware/emit/text/axi.hpp"

namespace mase::emit {

/// A register of mase_axi_control.
struct RegisterRow {
  const char* name;  ///< MASE_<name> in the driver
  int offset;        ///< in bytes
  const char* access;
  const char* text;
  bool reloads = false;  ///< only where weights may be replaced
};
inline constexpr auto register_rows = std::to_array<RegisterRow>({
    {"ID", 0x00, "read-only", "MASE, low byte first"},
    {"VERSION", 0x04, "read-only", "Version of the registers"},
    {"DESIGN", 0x08, "read-only", "Which design this is"},
    {"STATUS", 0x0c, "read-write", "Bit i: input i was wrong; writing 1 clears"},
    {"CONTROL", 0x10, "read-write", "Bit 0 resets the design"},
    {"TRANSFER", 0x14, "read-write", "Frames between two TLAST of the outputs"},
    {"FRAMES_IN", 0x18, "read-only", "Frames that came in"},
    {"FRAMES_OUT", 0x1c, "read-only", "Frames that went out"},
    {"CYCLES", 0x20, "read-only", "Cycles, low half"},
    {"CYCLES_HIGH", 0x24, "read-only", "Cycles, high half when the low one was read"},
    {"RELOAD_PLACE", 0x28, "read-write", "Place of the next word of the weights", true},
    {"RELOAD_WORD", 0x2c, "write-only", "A word of the weights; the place goes on by one", true},
    {"RELOAD_STATUS", 0x30, "read-only",
     "Bit 31: a word came while the design was not reset; others: frames in the design", true},
    {"WEIGHTS", 0x34, "read-write", "Which weights; 0: those of the bitstream", true},
});

/// The wrapper of a scope, its interfaces, registers and `files` (relative to component.xml).
std::string component_xml(const design::Design& design, const Names& names, const Scope& scope,
                          const EmitOptions& options, const verilog::Module& wrapper,
                          const std::string& number, const std::vector<std::string>& files);

}  // namespace mase::emit
