// SPDX-License-Identifier: Apache-2.0
// FPGA families that synthesis and placement are run for, a row each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hardware/design/cost.hpp"

namespace mase::emit {

/// A device that nextpnr places for, and what it holds.
struct PlacedDevice {
  std::string_view name;  ///< "LFE5U-25F-6CABGA381"
  std::vector<std::string> arguments;
  design::Cost holds;
};

struct Family {
  std::string_view name;
  std::string_view synthesise;  ///< Yosys's command
  std::string_view cells;       ///< Yosys's file of the cells that own modules instantiate; or none
  std::string_view logic;       ///< cells between registers, DSP blocks and block memories
  std::string_view dsp_block;   ///< of add_hardware_metadata
  std::string_view delays;      ///< Yosys's arguments to read the delays of all cells; or none
  std::vector<PlacedDevice> devices = {};         ///< from small to large; none: not placed
  std::vector<std::string> place_arguments = {};  ///< of nextpnr-NAME, whatever the device
  /// What is done to Yosys's netlist before it is placed; or nothing.
  std::string (*finish)(const std::string& netlist) = nullptr;
};

/// Error(Fault::config) for other names.
const Family& family_of(const std::string& name);
/// The same; an error too for a family without devices.
const Family& placed_family(const std::string& name);

/// The smallest device of a family with room for what Yosys counted. Error(Fault::config) when none
/// has: what is too much, and the limits that make a design fit whose `predicted` cost was counted.
const PlacedDevice& device_for(const Family& family, const design::Cost& counted,
                               const design::Cost& predicted);

}  // namespace mase::emit
