// SPDX-License-Identifier: Apache-2.0
// Rows of the batch that are chosen by their own numbers.
#pragma once

#include "ir/graph.hpp"
#include "passes/constants/constant_nodes.hpp"

namespace mase::passes {

/// Writes x[arange(batch)[:, None], i] as x[:, i], which gives the same values; transformers reads
/// masks that way. Returns whether there was one. Of the graph that the constants are of.
bool take_own_rows(ir::Graph& graph, const ConstantNodes& constants, const BatchPowers& powers);

}  // namespace mase::passes
