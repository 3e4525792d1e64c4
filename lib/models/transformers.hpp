// SPDX-License-Identifier: Apache-2.0
// The transformers.
#pragma once

#include "ir/graph.hpp"

namespace mase::models {

/// Rows of sample_shape in, `classes` numbers per row out; initial weights follow from the seed.
ir::Graph build_vit_tiny(const Shape& sample_shape, int classes, std::uint64_t seed);

}  // namespace mase::models
