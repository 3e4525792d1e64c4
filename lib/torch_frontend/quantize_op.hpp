// Fake quantization of a tensor by a number format, with a straight-through gradient.
#pragma once

#include <ATen/core/Tensor.h>

#include "formats/format.hpp"

namespace mase::torch_frontend {

/// The tensor on the format's grid: a fresh contiguous tensor (the input when it is not float32).
/// The gradient is the identity everywhere, also where the value saturated.
at::Tensor quantize(const at::Tensor& tensor, const formats::Format& format);

}  // namespace mase::torch_frontend
