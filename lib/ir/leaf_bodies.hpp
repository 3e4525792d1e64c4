// SPDX-License-Identifier: Apache-2.0
// Opaque leaves: nodes that run a graph of their own. Whoever runs or exports a graph takes them
// apart first.
#pragma once

#include <string_view>

#include "ir/graph.hpp"

namespace mase::ir {

/// The operator of an opaque leaf.
inline constexpr std::string_view leaf_op = "mase::leaf";

/// The graph with the nodes of every body in front of its leaf, which then passes their result on
/// under its old id and name. Nodes of a body are named "LEAF_NAME". Error(Fault::file) for a body
/// that does not fit its leaf.
Graph without_leaf_bodies(const Graph& graph);

}  // namespace mase::ir
