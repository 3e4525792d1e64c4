// SPDX-License-Identifier: Apache-2.0
// Finds operators that can write their result over their first argument in eval mode. The result is
// the same, but no other tensor need be allocated.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include <optional>
#include <vector>

#include "ir/graph.hpp"

namespace mase::libtorch {

/// The in-place operator of a node ("aten::relu_" for "aten::relu"), or nothing. As far as is
/// known, the result must have the first argument's type and shape, and share no memory with it.
std::optional<c10::OperatorHandle> in_place_twin(const ir::Graph& graph, const ir::Node& node,
                                                 const c10::FunctionSchema& schema);

/// Whether it is a float tensor to which there is no other reference.
bool is_exclusive(const at::Tensor& tensor);

/// Whether the first argument is a float tensor without other references, and all other tensors
/// have its type, sizes and strides, so that the result has them too.
bool may_overwrite(const std::vector<c10::IValue>& arguments);

}  // namespace mase::libtorch
