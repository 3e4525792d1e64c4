// SPDX-License-Identifier: Apache-2.0
// Opens the library of CUDA's kernels, and runs them.
#include "formats/device_kernels.hpp"

#include <filesystem>

#include "base/error.hpp"
#include "base/library.hpp"

namespace mase::formats {

const kernels::DeviceKernels* device_kernels() {
  static const kernels::DeviceKernels* const opened = []() -> const kernels::DeviceKernels* {
    const std::string library = "libmase_cuda.so";
    if (!std::filesystem::exists(library_folder() + "/" + library)) return nullptr;
    using Kernels = const kernels::DeviceKernels* (*)();
    return reinterpret_cast<Kernels>(open_library(library, "mase_device_kernels", LibraryScope::own,
                                                  "the library of CUDA's kernels",
                                                  "the CUDA toolkit"))();
  }();
  return opened;
}

bool quantize_on_device(const Format& format, const Shape& shape, const DeviceSpan& span) {
  const kernels::DeviceKernels* const kernels = device_kernels();
  const DeviceQuantizer quantizer = kernels ? format.device_quantizer(shape) : nullptr;
  if (!quantizer) return false;
  format.check(shape);
  if (const char* const error = quantizer(*kernels, span))
    unsupported_error("format '" + format.short_text() + "' on GPU " + std::to_string(span.device) +
                      ": " + error + "; run on the processor (--device=cpu)");
  return true;
}

}  // namespace mase::formats
