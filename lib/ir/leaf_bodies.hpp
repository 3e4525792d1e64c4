// SPDX-License-Identifier: Apache-2.0
// Opaque leaves: nodes that run a graph of their own. Whoever runs or exports a graph takes them
// apart first.
#pragma once

#include <map>
#include <string>

#include "ir/graph.hpp"

namespace mase::ir {

/// A port of a leaf, whose format stands on a node of its own where the body is placed.
struct LeafPort {
  NodeId leaf = no_node;
  std::string port;
};
using LeafPorts = std::map<NodeId, LeafPort>;  ///< by the node that rounds

/// The graph with the nodes of every body in front of its leaf, which then passes their result on
/// under its old id and name. Nodes of a body are named "LEAF_NAME". What a port of the leaf has a
/// format for goes through a node "mase::identity" with this format on its data_in; `ports` gets
/// these nodes. Error(Fault::file) for a body that does not fit its leaf.
Graph without_leaf_bodies(const Graph& graph, LeafPorts* ports = nullptr);

}  // namespace mase::ir
