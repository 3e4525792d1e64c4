// SPDX-License-Identifier: Apache-2.0
// The convolutional networks.
#pragma once

#include "ir/graph.hpp"

namespace mase::models {

// Each takes rows of sample_shape and gives `classes` numbers per row; the seed gives the weights.
ir::Graph build_lenet(const Shape& sample_shape, int classes, std::uint64_t seed);
ir::Graph build_vgg7(const Shape& sample_shape, int classes, std::uint64_t seed);
ir::Graph build_cnv(const Shape& sample_shape, int classes, std::uint64_t seed);

}  // namespace mase::models
