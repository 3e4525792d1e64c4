// SPDX-License-Identifier: Apache-2.0
// Indexing that picks each row of the batch by its own number.
#pragma once

#include "ir/graph.hpp"
#include "passes/constants/constant_nodes.hpp"

namespace mase::passes {

/// Replaces x[arange(batch)[:, None], i] by x[:, i], which gives the same values; transformers
/// reads masks that way. Returns true when there was one. `constants` must belong to `graph`.
bool take_own_rows(ir::Graph& graph, const ConstantNodes& constants, const BatchPowers& powers);

}  // namespace mase::passes
