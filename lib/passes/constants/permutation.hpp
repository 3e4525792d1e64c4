// SPDX-License-Identifier: Apache-2.0
// Nodes that reorder the dimensions of a tensor.
#pragma once

#include <optional>
#include <vector>

#include "ir/graph.hpp"

namespace mase::passes {

/// For permute, transpose and t: which dimension of the first input each dimension of the result
/// is. Returns nullopt for other nodes, and when that is not known.
std::optional<std::vector<std::size_t>> permutation_of(const ir::Graph& graph,
                                                       const ir::Node& node);

}  // namespace mase::passes
