// SPDX-License-Identifier: Apache-2.0
// Nodes that read the type of a tensor, or its shape and type, but not its values.
#pragma once

#include <optional>
#include <vector>

#include "ir/graph.hpp"

namespace mase::passes {

struct LikeRead {
  std::string_view argument;  ///< the node's argument that holds the tensor
  ir::NodeId tensor = ir::no_node;
  bool shape = false;  ///< it reads the shape too (zeros_like), not only the type (new_zeros)
};

/// What a node reads of such a tensor; nullopt for nodes that read the values of all their tensors.
std::optional<LikeRead> like_read(const ir::Node& node);
/// The nodes whose values a node reads, or its result's shape, each once, in argument order.
std::vector<ir::NodeId> values_read(const ir::Graph& graph, const ir::Node& node);

}  // namespace mase::passes
