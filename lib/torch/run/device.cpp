// SPDX-License-Identifier: Apache-2.0
// Asks LibTorch's table of kinds of devices, in which each build and each plug-in has its own.
#include "torch/run/device.hpp"

#include <c10/core/DeviceType.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/version.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace mase::libtorch {
namespace {

/// Whether this build has code for the kind.
bool is_built(c10::DeviceType kind) { return c10::impl::hasDeviceGuardImpl(kind); }

c10::DeviceIndex count_of(c10::DeviceType kind) {
  return is_built(kind) ? c10::impl::getDeviceGuardImpl(kind)->deviceCount() : 0;
}

bool is_accelerator(c10::DeviceType kind) {
  return kind != c10::DeviceType::CPU && kind != c10::DeviceType::Meta;
}

/// All kinds that LibTorch has a number for.
std::vector<c10::DeviceType> accelerator_kinds() {
  std::vector<c10::DeviceType> kinds;
  for (int i = 0; i < c10::COMPILE_TIME_MAX_DEVICE_TYPES; ++i)
    if (const auto kind = static_cast<c10::DeviceType>(i); is_accelerator(kind))
      kinds.push_back(kind);
  return kinds;
}

/// The device for this process where none is named: one after another for those of a machine.
c10::DeviceIndex own_index(c10::DeviceType kind, int local_rank) {
  const int count = count_of(kind);
  return static_cast<c10::DeviceIndex>(count > 0 ? local_rank % count : 0);
}

c10::Device first_accelerator(int local_rank) {
  for (const c10::DeviceType kind : accelerator_kinds())
    if (count_of(kind) > 0) return {kind, own_index(kind, local_rank)};
  return c10::kCPU;
}

c10::Device parsed(const std::string& name) {
  try {
    return c10::Device(name);
  } catch (const c10::Error&) {
    config_error("device '" + name + "': LibTorch " TORCH_VERSION " has no such kind; here are " +
                 join(devices_here(), ", "));
  }
}

/// How to get a LibTorch for this kind of device, which `MASE_LIBTORCH` then names.
std::string build_for(c10::DeviceType kind) {
  const std::string version = split(TORCH_VERSION, '+')[0];
  if (kind == c10::DeviceType::CUDA)
    return "`pip install --target DIR torch==" + version + "`, then set MASE_LIBTORCH to DIR/torch";
  return "Set MASE_LIBTORCH to the folder of a LibTorch " + version + " that has it";
}

[[noreturn]] void refuse_missing(const c10::Device& device, const std::string& name) {
  const std::string here = "; here are " + join(devices_here(), ", ");
  if (!is_built(device.type()))
    config_error("device '" + name + "': LibTorch " TORCH_VERSION " is built without it" + here +
                 ". " + build_for(device.type()));
  if (count_of(device.type()) == 0)
    config_error("device '" + name +
                 "': LibTorch finds none: the machine has none, or its driver "
                 "is missing or too old" +
                 here);
  config_error("device '" + name + "' is not there" + here);
}

}  // namespace

std::vector<std::string> devices_here() {
  std::vector<std::string> names{"cpu"};
  for (const c10::DeviceType kind : accelerator_kinds())
    for (c10::DeviceIndex i = 0; i < count_of(kind); ++i)
      names.push_back(c10::Device(kind, i).str());
  return names;
}

c10::Device find_device(const std::string& name, int local_rank) {
  if (name == "auto") return first_accelerator(local_rank);
  const c10::Device device = parsed(name);
  if (device.is_cpu()) return c10::kCPU;
  const c10::DeviceIndex index =
      device.has_index() ? device.index() : own_index(device.type(), local_rank);
  if (!is_accelerator(device.type()) || index >= count_of(device.type()))
    refuse_missing(device, name);
  return {device.type(), index};
}

std::string memory_error(const c10::OutOfMemoryError& error) {
  return split(error.what_without_backtrace(), '\n')[0] +
         "; a smaller batch (--batch-size, or fewer rows of --input) needs less, and --device cpu "
         "has the memory of the machine";
}

std::string device_error(const c10::Error& error, c10::Device device, const std::string& op) {
  const std::string said = error.what_without_backtrace();
  if (const auto* memory = dynamic_cast<const c10::OutOfMemoryError*>(&error))
    return memory_error(*memory);
  if (!device.is_cpu() && dynamic_cast<const c10::NotImplementedError*>(&error))
    return device.str() + " has no kernel for " + op + " (" + split(said, '\n')[0] +
           "); --device cpu runs the model" +
           (device.is_mps() ? ", and with PYTORCH_ENABLE_MPS_FALLBACK=1 in the environment "
                              "LibTorch runs such operators on the CPU"
                            : "");
  return said;
}

}  // namespace mase::libtorch
