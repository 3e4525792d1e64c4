// SPDX-License-Identifier: Apache-2.0
// The convolutional networks.
#pragma once

#include "ir/graph.hpp"

namespace mase::models {

// Rows of sample_shape in, `classes` numbers per row out; initial weights follow from the seed.
ir::Graph build_lenet(const Shape& sample_shape, int classes, std::uint64_t seed);
ir::Graph build_vgg7(const Shape& sample_shape, int classes, std::uint64_t seed);
ir::Graph build_cnv(const Shape& sample_shape, int classes, std::uint64_t seed);

}  // namespace mase::models
