// SPDX-License-Identifier: Apache-2.0
// A tensor in the memory of a GPU, and what starts a kernel on it.
#pragma once

#include <cstddef>
#include <functional>

namespace mase::formats {

/// Float32 elements in a GPU's memory. `in` and `out` are the same or do not overlap.
struct DeviceSpan {
  const float* in = nullptr;
  float* out = nullptr;
  std::size_t count = 0;
  int device = 0;          ///< CUDA's number of the GPU
  void* stream = nullptr;  ///< CUDA's stream on which the kernel runs
};

namespace kernels {
struct DeviceKernels;
}

/// Starts the kernel of a format; returns the text of CUDA's error, or null. (It does not wait for
/// the kernel to end.)
using DeviceQuantizer =
    std::function<const char*(const kernels::DeviceKernels& kernels, const DeviceSpan& span)>;

}  // namespace mase::formats
