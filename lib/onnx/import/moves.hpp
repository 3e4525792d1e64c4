// SPDX-License-Identifier: Apache-2.0
// Moves of the elements of constants that are too large to be taken apart into host numbers, such
// as weights that a file stores in parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/array.hpp"

namespace mase::onnx {

/// The elements at these places along a dimension.
Array picked_along(const Array& array, std::size_t dim, const std::vector<std::int64_t>& places);
/// Arrays of the same dtype one after the other along a dimension. Error(Fault::file) when their
/// other dimensions differ.
Array joined(const std::vector<Array>& arrays, std::size_t dim);

}  // namespace mase::onnx
