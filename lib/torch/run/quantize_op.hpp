// SPDX-License-Identifier: Apache-2.0
// Fake quantization of a tensor by a number format, with a straight-through gradient.
//
// Tensors may be on any device, with the same bits, and stay there. Two things have no operators
// and visit the CPU: stochastic rounding, where the device has no kernel for the format, and the
// mask of a format that clips gradients.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>

#include "formats/format.hpp"

namespace mase::libtorch {

/// Rounds the tensor to the format. Returns a new contiguous tensor, or the input if not float32.
/// The gradient is passed through; if the format clips gradients, it is 0 where values saturate.
at::Tensor quantize(const at::Tensor& tensor, const formats::Format& format);

/// The same for a fixed-point format whose step is learned: the gradient of `log2_step`, a float32
/// scalar that requires one, is `step_gradient` of the incoming gradient. Uses the format's step.
at::Tensor quantize(const at::Tensor& tensor, const formats::Format& format,
                    const at::Tensor& log2_step);

/// Returns the tensor unchanged, but rounds the gradient that flows back through it to `format`.
at::Tensor round_gradient(const at::Tensor& tensor, const formats::Format& format);

/// Writes `in`, rounded to the format, to `out`. Both are contiguous float32 of one shape.
void quantize_into(const at::Tensor& in, const formats::Format& format, at::Tensor& out);

/// The same for a gradient, as error messages say.
void quantize_gradient_into(const at::Tensor& gradient, const formats::Format& format,
                            at::Tensor& out);

/// Computes into[i] = gradient[i], or 0 where raw[i] saturates. `into` and `gradient` may be the
/// same tensor. All are contiguous float32 of one shape.
void clip_gradient(const formats::Format& format, const at::Tensor& raw, const at::Tensor& gradient,
                   at::Tensor& into);

/// Does clip_gradient, and returns d loss / d log2(step) of a fixed-point format with the values
/// `quantized`: ln 2 * sum of gradient * (q - x), or * q where x saturates (Esser et al., ICLR
/// 2020, eq. 3, in the logarithm of the step as in Jain et al., MLSys 2020). The sum is in double.
/// All are on the CPU; step_gradient_by_operators is for other devices, with the same bits.
double step_gradient(const formats::Format& format, const at::Tensor& raw,
                     const at::Tensor& quantized, const at::Tensor& gradient, at::Tensor& into);

}  // namespace mase::libtorch
