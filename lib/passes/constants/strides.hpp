// SPDX-License-Identifier: Apache-2.0
// Distances in memory between neighbours along each dimension of a tensor, in elements.
#pragma once

#include "base/array.hpp"

namespace mase::passes {

/// Of a tensor whose elements lie in row-major order without gaps.
Shape dense_strides(const Shape& shape);
/// Whether the elements can be seen in another shape where they are; else they must be copied.
bool can_view(const Shape& shape, const Shape& strides, const Shape& as);

}  // namespace mase::passes
