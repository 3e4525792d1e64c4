// SPDX-License-Identifier: Apache-2.0
// Vivado: its script and constraints for an emitted folder, and what its reports say.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hardware/design/cost.hpp"
#include "hardware/emit/emit.hpp"
#include "hardware/emit/text/devices.hpp"

namespace mase::emit {

/// Tcl that takes the name of one of several devices out of the list `arguments`, and sets `ending`
/// to what ends the names of its files; it ends the script with status 1 for another name or none.
std::string choose_device(const std::vector<DeviceScope>& parts);

/// vivado/build.tcl, vivado/<top>.xdc and vivado/block_design.tcl; `number` is the design_number.
Files vivado_files(const design::Design& design, const EmitOptions& options,
                   const std::string& number);

/// A placed and routed top. Resources of the whole part are `available`; times in nanoseconds.
struct Implementation {
  std::string top;               ///< the bare top, or its AXI wrapper
  std::optional<int> device_id;  ///< of several
  design::Cost predicted, used, available;
  double period = 0, slack = 0;  ///< asked for; worst of setup
  double mhz() const { return 1000 / (period - slack); }
};

/// What report_utilization and report_timing_summary wrote. Error(Fault::file) that names `path`
/// when a table is missing or no path is constrained.
void read_utilization(const std::string& text, const std::string& path, Implementation& found);
void read_timing(const std::string& text, const std::string& path, Implementation& found);

/// Error(Fault::config) for another word than "core" and "axi".
void check_wrapper(const std::string& wrapper);

/// Reads Vivado's reports in the emitted folder, those of every device. If there are none of this
/// very design, it runs Vivado first. `wrapper` is "core" or "axi". A missed clock is a result, not
/// an error. Error(Fault::file) if Vivado is missing or fails.
std::vector<Implementation> implement(const std::string& hardware_folder,
                                      const design::Design& design, const std::string& wrapper);

}  // namespace mase::emit
