// SPDX-License-Identifier: Apache-2.0
// The text encoder.
#pragma once

#include "ir/graph.hpp"

namespace mase::models {

/// Takes rows of sample_shape = [tokens], int64 from 0 to 255, and gives `classes` numbers per row,
/// computed from the first token. The seed determines the initial weights.
ir::Graph build_bert_tiny(const Shape& sample_shape, int classes, std::uint64_t seed);

}  // namespace mase::models
