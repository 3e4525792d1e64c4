// SPDX-License-Identifier: Apache-2.0
// Fake quantization of a tensor by a number format, with a straight-through gradient.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>

#include "formats/format.hpp"

namespace mase::libtorch {

/// The tensor on the format's grid: a fresh contiguous tensor (the input when it is not float32).
/// The gradient is the identity; zero where the value saturates when the format clips gradients.
at::Tensor quantize(const at::Tensor& tensor, const formats::Format& format);

/// The same for a fixed-point format whose step is learned: `log2_step` (a float32 scalar that
/// requires a gradient) gets `step_gradient` of what flows back. The step used is the format's.
at::Tensor quantize(const at::Tensor& tensor, const formats::Format& format,
                    const at::Tensor& log2_step);

/// The tensor itself; the gradient that flows back through it is rounded to `format`.
at::Tensor round_gradient(const at::Tensor& tensor, const formats::Format& format);

/// Writes the values of `in` on the format's grid to `out`, both contiguous float32 of one shape.
void quantize_into(const at::Tensor& in, const formats::Format& format, at::Tensor& out);

/// The same for a gradient; errors say so.
void quantize_gradient_into(const at::Tensor& gradient, const formats::Format& format,
                            at::Tensor& out);

/// into[i] = gradient[i], or 0 where raw[i] saturates; `into` and `gradient` may be the same.
/// All contiguous float32 of one shape.
void clip_gradient(const formats::Format& format, const at::Tensor& raw, const at::Tensor& gradient,
                   at::Tensor& into);

/// clip_gradient, and d loss / d log2(step) of a fixed-point format, whose values are `quantized`:
/// ln 2 * sum of gradient * (q - x), q alone where x saturates (Esser et al., ICLR 2020, eq. 3, in
/// the logarithm of the step as in Jain et al., MLSys 2020). Summed in double.
double step_gradient(const formats::Format& format, const at::Tensor& raw,
                     const at::Tensor& quantized, const at::Tensor& gradient, at::Tensor& into);

}  // namespace mase::libtorch
