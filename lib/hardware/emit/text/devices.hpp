// SPDX-License-Identifier: Apache-2.0
// What is built by itself: a design on one device, or what each of several has. Several are modules
// of their own, and a top in which links join them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hardware/emit/text/scope.hpp"

namespace mase::emit {

/// Whether a design is on several devices.
bool has_devices(const design::Design& design);

/// What is on one device, the module <top>_device<id>; on a single device, <top> with everything.
struct DeviceScope {
  int device;
  std::string word;  ///< "device0", or "" on a single device
  Scope scope;

  /// Which of several devices.
  std::optional<int> device_id() const {
    return word.empty() ? std::nullopt : std::optional(device);
  }
  /// Ends the names of what belongs to the device: "_device0", or "".
  std::string ending() const { return word.empty() ? "" : "_" + word; }
  /// The list of its sources, "filelist_device0.f".
  std::string list() const { return "filelist" + ending() + ".f"; }
  /// The list of its sources and those of its wrapper.
  std::string axi_list() const { return "filelist" + ending() + "_axi.f"; }
};
/// One for each device, ascending.
std::vector<DeviceScope> device_scopes(const design::Design& design, const Names& names);
/// The whole design as a module.
Scope whole_scope(const design::Design& design, const Names& names);
/// "device0": the instance in the top, and what ends the names of what belongs to it.
std::string device_word(int device);

/// Where an instance is below the top: "device0.fc1", or "fc1" on a single device.
std::string instance_path(const design::Design& design, const Names& names, std::size_t index);

/// The top for simulation: the devices, and mase_link from each link's source to its end.
verilog::Module module_of_devices(const design::Design& design, const Names& names);

/// rtl/<module>.sv of every device.
std::vector<verilog::Module> device_modules(const design::Design& design, const Names& names);

}  // namespace mase::emit
