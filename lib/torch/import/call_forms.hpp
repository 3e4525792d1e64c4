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

/// The operator that gives what an in-place one ("aten::transpose_") would leave in its first
/// argument: "aten::transpose.int".
std::string out_of_place_operator(const std::string& op);

/// aten::upsample_* of sizes alone becomes the overload that scripts call, with sizes or scales.
void use_sizes_or_scales(OpCall& call);

}  // namespace mase::libtorch
