// SPDX-License-Identifier: Apache-2.0
// Choices among elements that are all equal.
#pragma once

#include "ir/graph.hpp"

namespace mase::passes {

/// Writes gather(c, dim, index) of a constant whose elements are all equal as full_like(index, c),
/// which depends on no value of the index; RoBERTa reads its token types so. Returns whether there
/// was one.
bool take_equal_elements(ir::Graph& graph);

}  // namespace mase::passes
