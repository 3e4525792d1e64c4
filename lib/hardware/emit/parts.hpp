// SPDX-License-Identifier: Apache-2.0
// FPGA devices and what they hold. Numbers of the manufacturer's product tables: AMD DS180
// (7 series), DS189 (Spartan-7), DS190 (Zynq-7000), DS890 (UltraScale+), DS891 (Zynq UltraScale+)
// and DS950 (Versal).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/design/cost.hpp"

namespace mase::emit {

/// A device, whose name begins those of its parts.
struct Device {
  std::string_view name;          ///< "xc7a100t"
  std::int64_t lut, dsp, bram36;  ///< 6-input LUTs, DSP blocks, blocks of 36 kbit
};
std::span<const Device> devices();

/// The device of a part, as Vivado names it: "xc7a100tcsg324-1". Error(Fault::config) for unknown
/// ones, naming those that are near.
const Device& device_of(const std::string& part);

/// The DSP block of a part's family, by the name that add_hardware_metadata knows.
std::string_view dsp_block_of(const std::string& part);

/// The technology that a part's clock is predicted by, for add_hardware_metadata: that of 7 series
/// for all, the slowest of them.
std::string_view technology_of_part(const std::string& part);

/// Whether a design of this cost fits.
bool holds(const Device& device, const design::Cost& cost);
/// "LUT 12 %, DSP 35 %, RAMB36 8 % of xc7a100t".
std::string use_text(const Device& device, const design::Cost& cost);
/// Devices that hold the cost, those with the fewest LUTs first, `most` at most.
std::vector<std::string> devices_for(const design::Cost& cost, std::size_t most);

}  // namespace mase::emit
