// SPDX-License-Identifier: Apache-2.0
// Plain forms of the general calls that traces contain: numbers wrapped in 0-dim tensors become
// numbers again (traces wrap every constant and every size), aten::_convolution becomes
// aten::conv2d.
#pragma once

#include <optional>

#include "torch/import/builder.hpp"

namespace mase::libtorch {

/// Arithmetic on wrapped sizes only: the operator on Python integers that it stands for
/// (aten::floor_divide of two wrapped sizes → aten::floordiv.int).
std::optional<OpCall> as_host_call(const OpCall& call);

/// A tensor operator with a wrapped number as second operand: its Scalar overload.
void use_scalar_overload(OpCall& call);

/// aten::_convolution and aten::_convolution_mode: the convolution that they compute.
void use_plain_convolution(OpCall& call);

}  // namespace mase::libtorch
