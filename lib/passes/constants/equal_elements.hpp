// SPDX-License-Identifier: Apache-2.0
// Gathers from constants whose elements are all equal.
#pragma once

#include "ir/graph.hpp"

namespace mase::passes {

/// Replaces gather(c, dim, index) from a constant whose elements are all equal by
/// full_like(index, c), which depends on no value of the index; RoBERTa reads its token types this
/// way. Returns true when the graph had such a gather.
bool take_equal_elements(ir::Graph& graph);

}  // namespace mase::passes
