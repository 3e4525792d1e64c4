// SPDX-License-Identifier: Apache-2.0
// The networks of linear layers: jet taggers, toys and LFC.
#pragma once

#include "ir/graph.hpp"

namespace mase::models {

// Rows of sample_shape in, `classes` numbers per row out; initial weights follow from the seed.
ir::Graph build_jsc_toy(const Shape& sample_shape, int classes, std::uint64_t seed);
ir::Graph build_jsc_tiny(const Shape& sample_shape, int classes, std::uint64_t seed);
ir::Graph build_jsc_s(const Shape& sample_shape, int classes, std::uint64_t seed);
ir::Graph build_jsc_three_linear(const Shape& sample_shape, int classes, std::uint64_t seed);
ir::Graph build_jsc_mlp(const Shape& sample_shape, int classes, std::uint64_t seed);
ir::Graph build_toy(const Shape& sample_shape, int classes, std::uint64_t seed);
ir::Graph build_toy_tiny(const Shape& sample_shape, int classes, std::uint64_t seed);
ir::Graph build_lfc(const Shape& sample_shape, int classes, std::uint64_t seed);

}  // namespace mase::models
