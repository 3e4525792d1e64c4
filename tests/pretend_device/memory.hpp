// SPDX-License-Identifier: Apache-2.0
// The memory of a device that exists in tests only.
#pragma once

#include <ATen/core/Tensor.h>

namespace pretend {

inline constexpr c10::DeviceType type = c10::DeviceType::PrivateUse1;
inline constexpr c10::DeviceIndex device_count = 2;

/// The device of this thread.
c10::DeviceIndex& current_device();

/// Gives addresses that nobody may read or write, as those of another device: whoever does so
/// crashes. The bytes lie elsewhere. PRETEND_DEVICE_BYTES limits those of all devices together.
c10::Allocator& allocator();

/// Gives a storage of the device another size, and keeps its bytes.
void resize(const c10::Storage& storage, std::size_t size);

/// A tensor on the CPU that shares the bytes of a tensor of the device; others are returned as they
/// are.
at::Tensor host_view(const at::Tensor& tensor);

}  // namespace pretend
