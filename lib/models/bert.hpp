// SPDX-License-Identifier: Apache-2.0
// The encoder of texts.
#pragma once

#include "ir/graph.hpp"

namespace mase::models {

/// Rows of sample_shape = [tokens] in, int64 from 0 to 255; `classes` numbers per row out, from
/// what the first token has gathered. Initial weights follow from the seed.
ir::Graph build_bert_tiny(const Shape& sample_shape, int classes, std::uint64_t seed);

}  // namespace mase::models
