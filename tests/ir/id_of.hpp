// SPDX-License-Identifier: Apache-2.0
// Nodes of a graph by the names that a test's graph text gives them.
#pragma once

#include "ir/graph.hpp"

namespace mase::ir::test {

/// The id of a node that is there.
inline NodeId id_of(const Graph& graph, std::string_view name) { return graph.find_node(name)->id; }

}  // namespace mase::ir::test
