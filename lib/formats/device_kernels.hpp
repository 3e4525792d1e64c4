// SPDX-License-Identifier: Apache-2.0
// Fake quantization by kernels of CUDA. CUDA's compiler, if there is one, makes a library of the
// sources NAME.cuda.cpp in device/, which is opened on first use.
#pragma once

#include "formats/format.hpp"

namespace mase::formats {

/// The kernels of this program, or null when it was built without CUDA's compiler.
/// Error(Fault::file) says why their library cannot be opened.
const kernels::DeviceKernels* device_kernels();

/// Quantizes a tensor of this shape by the format's kernel; returns false when there is none.
/// Error(Fault::unsupported) has the text of CUDA's error.
bool quantize_on_device(const Format& format, const Shape& shape, const DeviceSpan& span);

}  // namespace mase::formats
