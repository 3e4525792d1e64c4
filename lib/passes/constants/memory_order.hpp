// SPDX-License-Identifier: Apache-2.0
// How the elements of a tensor lie in memory, from its shape and strides.
#pragma once

#include <vector>

#include "base/array.hpp"

namespace mase::passes {

enum class MemoryOrder {
  dense,     ///< row-major without gaps, as a stored tensor
  gaps,      ///< the order of row-major, with others' elements between them: slices
  permuted,  ///< without gaps, with the dimensions in another order
  other,     ///< the same elements are seen again (expand), or both of the above
};

/// LibTorch's products choose their order of summation by it, and so the bits of their results.
/// Dimensions of 1 have any stride.
MemoryOrder memory_order(const Shape& shape, const Shape& strides);

/// The dimensions, that with the largest stride first; equal ones stay in their order.
std::vector<std::size_t> slowest_first(const Shape& strides);

}  // namespace mase::passes
