// SPDX-License-Identifier: Apache-2.0
// Number formats by operators of LibTorch, on the device that has the tensor.
//
// The operators are those of Format::torchscript, run one after another: nothing is fused or
// rewritten. They are exact on every device: IEEE additions, products, quotients of tensors,
// roundings, comparisons and conversions, tables, and frexp, which only takes a number apart.
#pragma once

#include <ATen/core/Tensor.h>

#include "formats/format.hpp"

namespace mase::libtorch {

/// The float32 tensor rounded to the format, contiguous and on its device: the bits of
/// Format::quantize, where any NaN is like any other. Error(Fault::config) when tensors of this
/// shape cannot have the format.
at::Tensor quantize_by_operators(const at::Tensor& in, const formats::Format& format);

/// Does the work of step_gradient (quantize_op.hpp). Its sum, one double, stays on the device.
at::Tensor step_gradient_by_operators(const formats::Format& format, const at::Tensor& raw,
                                      const at::Tensor& quantized, const at::Tensor& gradient,
                                      at::Tensor& into);

}  // namespace mase::libtorch
