// SPDX-License-Identifier: Apache-2.0
// Slices: runs of consecutive elements of a tensor that share a scale (formats.md, section 2).
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/array.hpp"
#include "formats/tiling.hpp"

namespace mase::formats {

/// `count` slices of `size` elements each, one after another.
struct Slices {
  std::size_t count = 1, size = 0;

  template <class T>
  std::span<T> of(std::span<T> tensor, std::size_t slice) const {
    return tensor.subspan(slice * size, size);
  }
};

/// One slice per index of dimension 0; the whole tensor when the rank is below 2.
Slices first_dimension_slices(const Shape& shape);

/// The rows that a slice of the first or of the last dimension keeps together: one, but all if the
/// rank is below 2.
std::int64_t rows_of_slices(const Shape& shape);

/// The same slices as tiles.
Tiling first_dimension_tiling(const Shape& shape);

/// One slice per row of the last dimension; a scalar counts as a row.
Slices row_slices(const Shape& shape);

/// Average bits of one element: `bits` of its code and a share of `scales` float32 numbers.
double bits_with_scales(int bits, std::size_t scales, const Shape& shape);

/// Error(Fault::config) unless the rank is 4: the reference system has `what` ("ternary values")
/// for no other rank.
void check_rank_four(const Shape& shape, const std::string& what);

}  // namespace mase::formats
