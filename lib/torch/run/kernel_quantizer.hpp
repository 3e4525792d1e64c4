// SPDX-License-Identifier: Apache-2.0
// Number formats by this program's own kernels for GPUs.
#pragma once

#include <ATen/core/Tensor.h>

#include "formats/format.hpp"

namespace mase::libtorch {

/// Writes `in`, rounded to the format, to `out`, which has its shape: contiguous float32 tensors on
/// one device. Returns false, and writes nothing, when there is no kernel: for other devices than
/// CUDA's, in a program that was built without CUDA's compiler, and for formats without one.
bool quantize_by_kernel(const at::Tensor& in, const formats::Format& format, at::Tensor& out);

}  // namespace mase::libtorch
