// SPDX-License-Identifier: Apache-2.0
// Operators of this program as operators of ATen.
#pragma once

#include <map>

#include "ir/graph.hpp"

namespace mase::pt2 {

/// A graph of ATen's operators, and the nodes of the first graph that its nodes come from.
struct Expanded {
  ir::Graph graph;
  std::map<ir::NodeId, ir::Node> origins;  ///< of new nodes
};

/// Replaces subscripts of tensors, and functions that ATen has in several steps, by these steps.
/// Nodes without a counterpart stay.
Expanded expand_operators(const ir::Graph& graph);

}  // namespace mase::pt2
