// SPDX-License-Identifier: Apache-2.0
// Nodes that read the type of a tensor, or its shape and type, but none of its values.
#pragma once

#include <optional>
#include <vector>

#include "ir/graph.hpp"

namespace mase::passes {

struct LikeRead {
  std::string_view argument;  ///< which of the node's
  ir::NodeId tensor = ir::no_node;
  bool shape = false;  ///< the shape too, as zeros_like does; new_zeros reads the type alone
};

/// Nothing for nodes that read all of their tensors.
std::optional<LikeRead> like_read(const ir::Node& node);
/// The nodes whose values a node reads, or its result's shape, each once, in argument order.
std::vector<ir::NodeId> values_read(const ir::Graph& graph, const ir::Node& node);

}  // namespace mase::passes
