// SPDX-License-Identifier: Apache-2.0
// The table of hardware modules: what is the same for all instances of one, as its ports and files.
// One row per file of hw_templates.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/design/clock.hpp"
#include "hardware/design/cost.hpp"
#include "hardware/design/design.hpp"
#include "hardware/design/module.hpp"
#include "hardware/design/module_parameters.hpp"
#include "hardware/design/timing/handshake.hpp"

namespace mase::design {

/// What Yosys counts of a module (scripts/bench/calibrate.py).
struct Measurement {
  Module module;
  double lut_and_carry = 0, dsp = 0, bram = 0;
};

/// What a design has to know of a module.
struct ModuleRow {
  std::string name = {};  ///< module name; its file is hw_templates/<folder>/<name>.sv
  std::string folder = {}, doc = {};
  std::vector<std::string> uses = {};  ///< modules it instantiates, each a row too
  /// FPGA families with a file of their own that replaces it: hw_templates/<family>/<name>.sv.
  std::vector<std::string> families = {};
  /// In a reloadable design it has a port `reload`, and mase_reload_memory where else is mase_rom.
  bool reloads = false;
  /// Gives an instance the pipeline stages of a fold; null for modules that have none.
  void (*set_stages)(Instance& instance, const Fold& fold) = nullptr;
  /// Documentation of the parameters that a design gives it; null for parts of others.
  std::vector<FieldInfo> (*parameters)() = nullptr;
  std::vector<std::string> inputs = {};   ///< stream prefixes: "in", or "a", "b"
  std::vector<std::string> outputs = {};  ///< "out"
  /// Outputs (N of them, index 0 in the low bits) share one vector port set: stream_fork.
  bool vector_output = false;
  /// What the cost is to equal; null where a test says so.
  std::vector<Measurement> (*measured)() = nullptr;
  /// A module from named parameters; null for parts of others.
  Module (*read)(const ModuleParameters& parameters) = nullptr;
  /// The files of a user's module, name → text, which do not lie in hw_templates.
  std::map<std::string, std::string> files = {};
};

/// The modules that a design may instantiate, by family, and their parts.
const std::vector<ModuleRow>& module_table();

const ModuleRow& module_row(std::string_view name);  ///< internal error when unknown

}  // namespace mase::design
