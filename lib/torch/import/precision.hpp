// SPDX-License-Identifier: Apache-2.0
// Models whose numbers are all of another floating type than float32.
#pragma once

#include <c10/core/ScalarType.h>
#include <torch/csrc/jit/api/module.h>

#include <optional>

#include "base/array.hpp"

namespace mase::libtorch {

bool is_floating(DType dtype);

/// The one type of a model's floating tensors, where it is not float32; nothing for a model that
/// has several types, which mean something then, or no floating tensors.
std::optional<at::ScalarType> other_precision(const torch::jit::Module& module);

/// Makes every tensor of this type float32, as model.float() does, those in plain attributes too.
/// What shared memory shares it afterwards.
void use_float32(const torch::jit::Module& module, at::ScalarType precision);

}  // namespace mase::libtorch
