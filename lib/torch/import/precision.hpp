// SPDX-License-Identifier: Apache-2.0
// Converts models whose floating-point tensors all have a type other than float32.
#pragma once

#include <c10/core/ScalarType.h>
#include <torch/csrc/jit/api/module.h>

#include <optional>

#include "base/array.hpp"

namespace mase::libtorch {

/// The type of a model's floating-point tensors if it is a single type other than float32. Nothing
/// for a model with several types, which are then intentional, or without such tensors.
std::optional<at::ScalarType> other_precision(const torch::jit::Module& module);

/// Converts every tensor of this type to float32, as model.float() does, also in plain attributes.
/// Tensors that shared memory share it afterwards.
void use_float32(const torch::jit::Module& module, at::ScalarType precision);

}  // namespace mase::libtorch
