// SPDX-License-Identifier: Apache-2.0
// Operators that may write their result over their first argument, in eval mode: the same bits
// without another tensor to allocate and fill.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include <optional>
#include <vector>

#include "ir/graph.hpp"

namespace mase::libtorch {

/// "aten::relu_" for a node of "aten::relu" whose result has its first argument's type and shape,
/// as far as the graph knows, and shares no memory with it; nothing for other nodes.
std::optional<c10::OperatorHandle> in_place_twin(const ir::Graph& graph, const ir::Node& node,
                                                 const c10::FunctionSchema& schema);

/// Whether it is a float tensor that nobody else sees.
bool is_exclusive(const at::Tensor& tensor);

/// Whether the first argument is a float tensor that nobody else sees, and all other tensors have
/// its type, sizes and strides, so that the result has them too.
bool may_overwrite(const std::vector<c10::IValue>& arguments);

}  // namespace mase::libtorch
