// SPDX-License-Identifier: Apache-2.0
// Vivado: its script and constraints for an emitted folder, and what its reports say.
#pragma once

#include <string>

#include "hardware/design/cost.hpp"
#include "hardware/emit/emit.hpp"
#include "hardware/emit/text/names.hpp"

namespace mase::emit {

/// vivado/build.tcl, vivado/<top>.xdc and vivado/block_design.tcl; `number` is the design_number.
Files vivado_files(const design::Design& design, const EmitOptions& options,
                   const std::string& number);

/// A placed and routed design. Resources of the whole part are `available`; times in nanoseconds.
struct Implementation {
  std::string top;  ///< the bare top, or its AXI wrapper
  design::Cost used, available;
  double period = 0, slack = 0;  ///< asked for; worst of setup
  double mhz() const { return 1000 / (period - slack); }
};

/// What report_utilization and report_timing_summary wrote. Error(Fault::file) that names `path`
/// when a table is missing or no path is constrained.
void read_utilization(const std::string& text, const std::string& path, Implementation& found);
void read_timing(const std::string& text, const std::string& path, Implementation& found);

/// Error(Fault::config) for another word than "core" and "axi".
void check_wrapper(const std::string& wrapper);

/// Reads Vivado's reports in the emitted folder. If there are none of this very design, it runs
/// Vivado first. `wrapper` is "core" or "axi". A missed clock is a result, not an error.
/// Error(Fault::file) if Vivado is missing or fails.
Implementation implement(const std::string& hardware_folder, const design::Design& design,
                         const std::string& wrapper);

}  // namespace mase::emit
