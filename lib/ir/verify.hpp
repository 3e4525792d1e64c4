// SPDX-License-Identifier: Apache-2.0
// The verifier: invariants that every pass must keep.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.hpp"

namespace mase::ir {

/// Every broken invariant as one sentence naming the node; empty when the graph is sound:
/// names unique and valid, references to earlier live nodes, one output that is last, placeholders
/// first, modules and tensors present, formats only on ports the op has.
std::vector<std::string> verify(const Graph& graph);

}  // namespace mase::ir
