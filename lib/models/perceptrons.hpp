// SPDX-License-Identifier: Apache-2.0
// Networks of linear layers: jet taggers, toys and LFC.
#pragma once

#include "ir/graph.hpp"

namespace mase::models {

// Each takes rows of sample_shape and gives `classes` numbers per row; the seed gives the weights.
ir::Graph build_jsc_toy(const Shape& sample_shape, int classes, std::uint64_t seed);
ir::Graph build_jsc_tiny(const Shape& sample_shape, int classes, std::uint64_t seed);
ir::Graph build_jsc_s(const Shape& sample_shape, int classes, std::uint64_t seed);
ir::Graph build_jsc_three_linear(const Shape& sample_shape, int classes, std::uint64_t seed);
ir::Graph build_jsc_mlp(const Shape& sample_shape, int classes, std::uint64_t seed);
ir::Graph build_toy(const Shape& sample_shape, int classes, std::uint64_t seed);
ir::Graph build_toy_tiny(const Shape& sample_shape, int classes, std::uint64_t seed);
ir::Graph build_lfc(const Shape& sample_shape, int classes, std::uint64_t seed);

}  // namespace mase::models
