// SPDX-License-Identifier: Apache-2.0
// Opaque leaves: nodes that run a graph of their own. Before a graph runs or is exported, they are
// taken apart.
#pragma once

#include <map>
#include <string>

#include "ir/graph.hpp"

namespace mase::ir {

/// A port of a leaf whose format moves to a separate node when the leaf's body is put in place.
struct LeafPort {
  NodeId leaf = no_node;
  std::string port;
};
using LeafPorts = std::map<NodeId, LeafPort>;  ///< by the node that does the rounding

/// Returns the graph with the nodes of every body in front of its leaf, which then passes on their
/// result under its old id and name. The nodes of a body are named "LEAF_NAME". A port of the leaf
/// with a format becomes a node "mase::identity" with this format on its data_in, entered in
/// `ports`. Error(Fault::file) for a body that does not fit its leaf.
Graph without_leaf_bodies(const Graph& graph, LeafPorts* ports = nullptr);

}  // namespace mase::ir
