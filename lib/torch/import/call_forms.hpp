// SPDX-License-Identifier: Apache-2.0
// Simplifies the general calls that traces contain: numbers in 0-dim tensors become numbers again
// (a trace wraps every constant and every size), and aten::_convolution becomes
// aten::conv2d.
#pragma once

#include <optional>

#include "torch/import/builder.hpp"

namespace mase::libtorch {

/// For arithmetic on wrapped sizes only: the operator on Python integers that it stands for
/// (aten::floor_divide of two wrapped sizes → aten::floordiv.int).
std::optional<OpCall> as_host_call(const OpCall& call);

/// Uses the Scalar overload of a tensor operator whose second operand is a wrapped number.
void use_scalar_overload(OpCall& call);

/// Replaces aten::_convolution and aten::_convolution_mode by the convolution that they compute.
void use_plain_convolution(OpCall& call);

/// The operator whose result is what an in-place one ("aten::transpose_") would leave in its first
/// argument, such as "aten::transpose.int".
std::string out_of_place_operator(const std::string& op);

/// Replaces aten::upsample_* with only sizes by the overload with sizes or scales of scripts.
void use_sizes_or_scales(OpCall& call);

}  // namespace mase::libtorch
