// SPDX-License-Identifier: Apache-2.0
// The language models.
#pragma once

#include "ir/graph.hpp"

namespace mase::models {

/// Rows of sample_shape = [tokens] in, int64 below `classes`; scores of the next token at every
/// position out, [tokens, classes]. Initial weights follow from the seed.
ir::Graph build_llama_tiny(const Shape& sample_shape, int classes, std::uint64_t seed);

}  // namespace mase::models
