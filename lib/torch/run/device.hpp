// SPDX-License-Identifier: Apache-2.0
// The devices that this LibTorch can compute on.
#pragma once

#include <c10/core/Device.h>
#include <c10/util/Exception.h>

#include <string>
#include <vector>

namespace mase::libtorch {

/// The names of all devices that are there, the CPU first: "cpu", "cuda:0", "cuda:1".
std::vector<std::string> devices_here();

/// The device of this name (backend/device.hpp). A name without a number is that of another device
/// for each process of the machine, whose number is `local_rank`. Error(Fault::config) if it is not
/// there says which are, and what is needed for it.
c10::Device find_device(const std::string& name, int local_rank);

/// An error of LibTorch on this device, with a remedy if it lacks memory or the operator.
std::string device_error(const c10::Error& error, c10::Device device, const std::string& op);

/// What to say of a device without memory left.
std::string memory_error(const c10::OutOfMemoryError& error);

}  // namespace mase::libtorch
