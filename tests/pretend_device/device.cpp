// SPDX-License-Identifier: Apache-2.0
// A device for LD_PRELOAD that exists in tests only, LibTorch's "privateuseone": two devices of
// which LibTorch knows streams, events and generators, as of any other. Everything is computed at
// once, so streams and events have nothing to do.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/DeviceType.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <vector>

#include "pretend_device/memory.hpp"

namespace pretend {
namespace {

struct Guard final : c10::impl::DeviceGuardImplInterface {
  Guard() = default;
  explicit Guard(c10::DeviceType) {}
  c10::DeviceType type() const override { return pretend::type; }
  c10::Device exchangeDevice(c10::Device device) const override {
    const c10::Device before = getDevice();
    setDevice(device);
    return before;
  }
  c10::Device getDevice() const override { return {pretend::type, current_device()}; }
  void setDevice(c10::Device device) const override {
    TORCH_CHECK(device.index() < device_count, "there is no device ", device.str());
    uncheckedSetDevice(device);
  }
  void uncheckedSetDevice(c10::Device device) const noexcept override {
    if (device.index() >= 0) current_device() = device.index();
  }
  c10::Stream getStream(c10::Device device) const override { return getDefaultStream(device); }
  c10::Stream getDefaultStream(c10::Device device) const override {
    return c10::Stream(c10::Stream::DEFAULT, device.index() < 0 ? getDevice() : device);
  }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool) const override {
    return getDefaultStream(device);
  }
  c10::Stream exchangeStream(c10::Stream stream) const override { return stream; }
  void record(void**, const c10::Stream&, c10::DeviceIndex, c10::EventFlag) const override {}
  bool queryEvent(void*) const override { return true; }
  c10::DeviceIndex deviceCount() const noexcept override { return device_count; }
  bool queryStream(const c10::Stream&) const override { return true; }
  void synchronizeStream(const c10::Stream&) const override {}
  void synchronizeDevice(c10::DeviceIndex) const override {}
  void recordDataPtrOnStream(const c10::DataPtr&, const c10::Stream&) const override {}
};
C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);

struct Generator final : at::CPUGeneratorImpl {
  explicit Generator(c10::DeviceIndex index) {
    device_ = c10::Device(type, index);
    key_set_ = c10::DispatchKeySet(c10::DispatchKey::PrivateUse1);
  }
};

struct Hooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return device_count; }
  c10::DeviceIndex getCurrentDevice() const override { return current_device(); }
  void setCurrentDevice(c10::DeviceIndex index) const override { current_device() = index; }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex index) const override {
    return std::exchange(current_device(), index);
  }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex index) const override {
    return exchangeDevice(index);
  }
  void resizePrivateUse1Bytes(const c10::Storage& storage, std::size_t size) const override {
    resize(storage, size);
  }
  const at::Generator& getDefaultGenerator(c10::DeviceIndex index) const override {
    static const std::vector<at::Generator> all{at::make_generator<Generator>(0),
                                                at::make_generator<Generator>(1)};
    return all.at(static_cast<std::size_t>(index < 0 ? current_device() : index));
  }
};

[[maybe_unused]] const bool registered = [] {
  c10::register_privateuse1_backend("privateuseone");  // autograd asks for a registered name
  static Hooks hooks;
  at::RegisterPrivateUse1HooksInterface(&hooks);
  return true;
}();

}  // namespace
}  // namespace pretend
