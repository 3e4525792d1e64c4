// SPDX-License-Identifier: Apache-2.0
// A design on several devices: a module for each of them, and a top in which links join these.
#pragma once

#include <string>
#include <vector>

#include "hardware/emit/text/scope.hpp"

namespace mase::emit {

/// Whether a design is on several devices.
bool has_devices(const design::Design& design);

/// What is on one device. The module is named <top>_device<id>.
struct DeviceScope {
  int device;
  Scope scope;
};
std::vector<DeviceScope> device_scopes(const design::Design& design, const Names& names);
/// "device0": the instance in the top, and the end of the names of its module and file list.
std::string device_word(int device);

/// The file list of a device, "filelist_device0.f".
std::string device_list(int device);

/// Where an instance is below the top: "device0.fc1", or "fc1" on a single device.
std::string instance_path(const design::Design& design, const Names& names, std::size_t index);

/// The top for simulation: the devices, and mase_link from each link's source to its end.
verilog::Module module_of_devices(const design::Design& design, const Names& names);

/// rtl/<module>.sv of every device.
std::vector<verilog::Module> device_modules(const design::Design& design, const Names& names);

}  // namespace mase::emit
