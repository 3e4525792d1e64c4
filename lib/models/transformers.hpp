// SPDX-License-Identifier: Apache-2.0
// The encoders.
#pragma once

#include "ir/graph.hpp"

namespace mase::models {

/// Takes rows of sample_shape and gives `classes` numbers per row; the seed gives the weights.
ir::Graph build_vit_tiny(const Shape& sample_shape, int classes, std::uint64_t seed);

/// The same with a class token: DeiT-tiny (Touvron et al., ICML 2021), without distillation.
ir::Graph build_deit_tiny(const Shape& sample_shape, int classes, std::uint64_t seed);

/// The same; rows of one dimension are tokens of one feature, rows of two [tokens, features].
ir::Graph build_transformer_jets(const Shape& sample_shape, int classes, std::uint64_t seed);

}  // namespace mase::models
