// SPDX-License-Identifier: Apache-2.0
// How the elements of a tensor lie in memory, from its shape and strides.
#pragma once

#include <vector>

#include "base/array.hpp"

namespace mase::passes {

enum class MemoryOrder {
  dense,     ///< row-major without gaps, as a stored tensor is
  gaps,      ///< row-major with other tensors' elements in between: slices
  permuted,  ///< without gaps, with the dimensions in another order
  other,     ///< elements that appear several times (expand), or gaps and another order together
};

/// The order of a tensor's elements. LibTorch's products choose their order of summation by it, so
/// the bits of their results depend on it. Dimensions of size 1 may have any stride.
MemoryOrder memory_order(const Shape& shape, const Shape& strides);

/// The dimensions by falling stride; dimensions of equal stride stay in their order.
std::vector<std::size_t> slowest_first(const Shape& strides);

}  // namespace mase::passes
