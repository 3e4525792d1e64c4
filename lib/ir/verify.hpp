// SPDX-License-Identifier: Apache-2.0
// The verifier: invariants that every pass must keep.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.hpp"

namespace mase::ir {

/// One sentence per broken invariant, which names the node; empty when the graph is sound: names
/// are unique and valid, references go to earlier live nodes, the one output is last, placeholders
/// come first, modules and tensors exist, and formats are only on ports that the op has.
std::vector<std::string> verify(const Graph& graph);

}  // namespace mase::ir
