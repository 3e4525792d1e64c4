// SPDX-License-Identifier: Apache-2.0
// The language models.
#pragma once

#include "ir/graph.hpp"

namespace mase::models {

/// Takes rows of sample_shape = [tokens], int64 below `classes`, and gives scores of the next token
/// at every position, [tokens, classes]. The seed determines the initial weights.
ir::Graph build_llama_tiny(const Shape& sample_shape, int classes, std::uint64_t seed);

}  // namespace mase::models
