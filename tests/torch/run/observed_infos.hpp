// SPDX-License-Identifier: Apache-2.0
// Compares inference by rules with the infos that LibTorch finds.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.hpp"

namespace mase::test {

/// Runs the graph on ones of its placeholders' shapes, and sets the infos of all nodes.
void observe_infos(ir::Graph& graph);

/// A line for each node of which ir::infer finds something else than its info says, each node with
/// the infos of those before it; and a line if ir::infer_all finds anything else. Empty if all is
/// the same. Nothing need be found for nodes whose shape depends on values.
std::vector<std::string> wrong_infos(const ir::Graph& graph);

}  // namespace mase::test
