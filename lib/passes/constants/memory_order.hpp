// SPDX-License-Identifier: Apache-2.0
// How the elements of tensors that do not depend on the inputs lie in memory.
#pragma once

#include <map>

#include "ir/graph.hpp"

namespace mase::passes {

enum class MemoryOrder {
  dense,     ///< row-major, as a stored tensor
  gaps,      ///< the order of row-major, with others' elements between them: slices
  repeated,  ///< the same, with dimensions along which the same elements are seen again: expand
  permuted,  ///< another order, or not known
};

/// Of the result of every node, where the placeholders' are not known. LibTorch's products choose
/// their order of summation by it, and so the bits of their results.
std::map<ir::NodeId, MemoryOrder> memory_orders(const ir::Graph& graph);

}  // namespace mase::passes
