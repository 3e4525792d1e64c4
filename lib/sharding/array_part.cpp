// SPDX-License-Identifier: Apache-2.0
// Copies the rows of a part one after the other.
#include "sharding/array_part.hpp"

#include <cstring>

namespace mase::sharding {
namespace {

/// Copies the places from `begin` on along one dimension.
Array narrowed(const Array& array, std::size_t dim, std::int64_t begin, std::int64_t length) {
  Shape shape = array.shape();
  const std::int64_t whole = shape[dim];
  shape[dim] = length;
  std::size_t inner = size_of(array.dtype()), outer = 1;
  for (std::size_t d = 0; d < shape.size(); ++d)
    (d < dim ? outer : inner) *= d == dim ? 1 : static_cast<std::size_t>(shape[d]);
  Array part = Array::uninitialized(array.dtype(), shape);
  const std::byte* from = array.bytes() + static_cast<std::size_t>(begin) * inner;
  std::byte* to = part.mutable_bytes();
  const std::size_t row = static_cast<std::size_t>(length) * inner;
  for (std::size_t i = 0; i < outer; ++i)
    std::memcpy(to + i * row, from + i * static_cast<std::size_t>(whole) * inner, row);
  return part;
}

}  // namespace

Array part_of(const Array& array, const Layout& layout, const Mesh& mesh, std::int64_t rank) {
  Array part = array;
  for (std::size_t dim = 0; dim < layout.split.size(); ++dim) {
    const AxisSet axes = layout.split[dim];
    if (axes == 0) continue;
    const std::int64_t length = part.shape()[dim] / parts(mesh, axes);
    part = narrowed(part, dim, part_number(axes, mesh, rank) * length, length);
  }
  for (std::size_t axis = 0; axis < axis_count; ++axis)
    if (has(layout.partial, axis) && mesh.place(rank, axis) != 0)
      return Array(part.dtype(), part.shape());
  return part;
}

}  // namespace mase::sharding
