// SPDX-License-Identifier: Apache-2.0
// Rules of operators outside of the op table that place elements elsewhere: diagonals, windows,
// grids, stacks of tensors and rotations. The shapes are those of PyTorch's documentation.
#include <algorithm>
#include <cstdlib>

#include "ir/inference/rules.hpp"

namespace mase::ir {
namespace {

using Integers = Call::Integers;

/// The number of elements of a diagonal that begins `offset` columns to the right.
std::int64_t diagonal_length(std::int64_t rows, std::int64_t columns, std::int64_t offset) {
  const std::int64_t length =
      offset >= 0 ? std::min(rows, columns - offset) : std::min(rows + offset, columns);
  return std::max<std::int64_t>(length, 0);
}

constexpr std::int64_t most_offset = 1 << 30;

std::int64_t offset_of(const Call& call, std::string_view name) {
  const std::int64_t offset = call.integer(name, 0);
  call.require(std::abs(offset) < most_offset, "the offset is too large");
  return offset;
}

/// The shape without two dimensions, of which the diagonal becomes the last one.
Inferred diagonal_of(const Call& call) {
  const ValueInfo self = call.input();
  const std::size_t rank = self.shape.size();
  call.require(rank >= 2, "it takes a tensor with two dimensions");
  call.require_moderate(self.shape);
  const std::size_t first = call.dimension("dim1", rank, 0),
                    second = call.dimension("dim2", rank, 1);
  call.require(first != second, "the dimensions are the same");
  Shape shape;
  for (std::size_t d = 0; d < rank; ++d)
    if (d != first && d != second) shape.push_back(self.shape[d]);
  shape.push_back(
      diagonal_length(self.shape[first], self.shape[second], offset_of(call, "offset")));
  return ValueInfo::tensor(self.dtype, shape);
}

/// A vector as the diagonal of a matrix, or the diagonal of a matrix.
Inferred diagonal_or_matrix(const Call& call) {
  const ValueInfo self = call.input();
  const std::int64_t offset = offset_of(call, "diagonal");
  call.require(self.shape.size() == 1 || self.shape.size() == 2, "it takes a vector or a matrix");
  if (self.shape.size() == 2)
    return ValueInfo::tensor(self.dtype, {diagonal_length(self.shape[0], self.shape[1], offset)});
  const std::int64_t size = call.sum(self.shape[0], std::abs(offset));
  return ValueInfo::tensor(self.dtype, {size, size});
}

/// The last dimension as the diagonal of two new ones.
Inferred embedded_diagonal(const Call& call) {
  const ValueInfo self = call.input();
  call.require(!self.shape.empty(), "it takes a tensor with dimensions");
  const std::size_t rank = self.shape.size() + 1;
  const std::size_t first = call.dimension("dim1", rank, -2),
                    second = call.dimension("dim2", rank, -1);
  call.require(first != second, "the dimensions are the same");
  const std::int64_t size = call.sum(self.shape.back(), std::abs(offset_of(call, "offset")));
  Shape shape;
  std::size_t next = 0;
  for (std::size_t d = 0; d < rank; ++d)
    shape.push_back(d == first || d == second ? size : self.shape[next++]);
  return ValueInfo::tensor(self.dtype, shape);
}

/// Windows along one dimension, which become a new last one.
Inferred windows_of_dimension(const Call& call) {
  ValueInfo self = call.input();
  const std::int64_t size = call.integer("size", 1), step = call.integer("step", 1);
  if (self.shape.empty()) return std::nullopt;
  const std::size_t dim = call.dimension("dimension", self.shape.size(), 0);
  call.require(size >= 0 && size <= self.shape[dim] && step > 0,
               "the window is larger than the dimension, or its step is not positive");
  self.shape[dim] = (self.shape[dim] - size) / step + 1;
  self.shape.push_back(size);
  return self;
}

/// [N, C, H, W] to [N, C * window, places], also without N.
Inferred columns_of_image(const Call& call) {
  const ValueInfo self = call.input();
  const std::size_t rank = self.shape.size();
  call.require(rank == 3 || rank == 4, "it takes [N, C, H, W] or [C, H, W]");
  call.require_moderate(self.shape);
  const Integers size = call.integers("kernel_size", 2, 1), step = call.integers("stride", 2, 1),
                 padding = call.integers("padding", 2, 0), gap = call.integers("dilation", 2, 1);
  std::int64_t places = 1;
  for (std::size_t i = 0; i < 2; ++i) {
    call.require(size[i] > 0 && size[i] < most_offset && step[i] > 0 && gap[i] > 0 &&
                     gap[i] < most_offset && std::abs(padding[i]) < most_offset,
                 "its window is not one");
    const std::int64_t left =
        self.shape[rank - 2 + i] + 2 * padding[i] - call.product(gap[i], size[i] - 1) - 1;
    call.require(left >= 0, "the window is larger than the image");
    places = call.product(places, left / step[i] + 1);
  }
  Shape shape = part_of(self.shape, 0, rank - 2);
  shape.back() = call.product(shape.back(), call.product(size[0], size[1]));
  shape.push_back(places);
  return ValueInfo::tensor(self.dtype, shape);
}

/// One tensor for each vector, in the shape of all of their lengths.
Inferred grids(const Call& call) {
  std::vector<ValueInfo> tensors = call.tensors("tensors");
  const bool swaps = call.text("indexing", "ij") == "xy" && tensors.size() > 1;
  Shape shape;
  for (const ValueInfo& one : tensors) {
    call.require(one.shape.size() <= 1, "it takes vectors");
    shape.push_back(one.shape.empty() ? 1 : one.shape[0]);
  }
  if (swaps) std::swap(shape[0], shape[1]);
  for (ValueInfo& one : tensors) one.shape = shape;
  return container_info(InfoKind::list, std::move(tensors));
}

/// The shape with at least so many dimensions: three are [1, n, 1] of a vector, [h, w, 1] of a
/// matrix.
Shape at_least(Shape shape, std::size_t rank) {
  if (shape.empty()) shape.push_back(1);
  if (rank >= 2 && shape.size() == 1) shape.insert(shape.begin(), 1);
  if (rank == 3 && shape.size() == 2) shape.push_back(1);
  return shape;
}

template <std::size_t rank>
Inferred with_dimensions(const Call& call) {
  if (call.value("tensors")) return std::nullopt;
  const ValueInfo self = call.input();
  return ValueInfo::tensor(self.dtype, at_least(self.shape, rank));
}

/// Tensors with at least so many dimensions in a row.
Inferred in_a_row(const Call& call, std::size_t rank, std::size_t dim) {
  std::vector<ValueInfo> tensors = call.tensors("tensors");
  call.require(!tensors.empty(), "it takes tensors");
  Shape shape = at_least(tensors[0].shape, rank);
  if (rank == 1 && shape.size() == 1) dim = 0;
  for (std::size_t i = 1; i < tensors.size(); ++i) {
    const Shape other = at_least(tensors[i].shape, rank);
    call.require(other.size() == shape.size(), "the ranks differ");
    for (std::size_t d = 0; d < shape.size(); ++d)
      call.require(d == dim || other[d] == shape[d], "the shapes differ in another dimension");
    shape[dim] = call.sum(shape[dim], other[dim]);
  }
  return ValueInfo::tensor(call.promoted(tensors), shape);
}

Inferred beside_each_other(const Call& call) { return in_a_row(call, 1, 1); }
Inferred below_each_other(const Call& call) { return in_a_row(call, 2, 0); }
Inferred behind_each_other(const Call& call) { return in_a_row(call, 3, 2); }

Inferred rotated(const Call& call) {
  ValueInfo self = call.input();
  const Integers dims = call.integers("dims");
  call.require(dims.empty() || dims.size() == 2, "it takes two dimensions");
  const std::size_t rank = self.shape.size();
  call.require(rank >= 2, "it takes a tensor with two dimensions");
  const std::size_t first = call.dimension(dims.empty() ? 0 : dims[0], rank),
                    second = call.dimension(dims.empty() ? 1 : dims[1], rank);
  if (call.integer("k", 1) % 2 != 0) std::swap(self.shape[first], self.shape[second]);
  return self;
}

/// The elements at indices along a dimension; the other dimensions repeat where they are 1.
Inferred taken_along(const Call& call) {
  const ValueInfo self = call.input();
  Shape shape = self.shape, places = call.tensor("indices").shape;
  if (!call.value("dim")) return ValueInfo::tensor(self.dtype, {call.elements(places)});
  call.require(places.size() == shape.size() && !shape.empty(), "the ranks differ");
  const std::size_t dim = call.dimension("dim", shape.size(), 0);
  const std::int64_t count = places[dim];
  shape[dim] = places[dim] = 1;
  shape = call.broadcast({shape, places});
  shape[dim] = count;
  return ValueInfo::tensor(self.dtype, shape);
}

/// A number of parts, of which the first ones may be longer by one.
Inferred parts_of_dimension(const Call& call) {
  const ValueInfo self = call.input();
  if (!call.value("sections")) return std::nullopt;
  const std::int64_t count = call.integer("sections", 1);
  constexpr std::int64_t most_parts = 1 << 16;
  call.require(count > 0 && count < most_parts && !self.shape.empty(),
               "it takes a positive number of parts");
  const std::size_t dim = call.dimension("dim", self.shape.size(), 0);
  std::vector<ValueInfo> parts(static_cast<std::size_t>(count), self);
  for (std::int64_t i = 0; i < count; ++i)
    parts[static_cast<std::size_t>(i)].shape[dim] =
        self.shape[dim] / count + (i < self.shape[dim] % count ? 1 : 0);
  return container_info(InfoKind::list, std::move(parts));
}

Inferred of_given_size(const Call& call) {
  return ValueInfo::tensor(call.input().dtype, call.integers("size"));
}

Inferred one_of_classes(const Call& call) {
  Shape shape = call.input().shape;
  shape.push_back(call.integer("num_classes", -1));
  if (shape.back() < 0) call.depends_on_values();
  return ValueInfo::tensor(DType::int64, shape);
}

}  // namespace

std::vector<InferenceRule> rearrangement_rules() {
  return {
      {"aten::alias", same_as_input},
      {"aten::scatter_add", same_as_input},
      {"aten::index_add", same_as_input},
      {"aten::index_fill", same_as_input},
      {"aten::channel_shuffle", same_as_input},
      {"aten::renorm", same_as_input},
      {"aten::diagonal", diagonal_of},
      {"aten::diag", diagonal_or_matrix},
      {"aten::diag_embed", embedded_diagonal},
      {"aten::unfold", windows_of_dimension},
      {"aten::im2col", columns_of_image},
      {"aten::meshgrid", grids},
      {"aten::atleast_1d", with_dimensions<1>},
      {"aten::atleast_2d", with_dimensions<2>},
      {"aten::atleast_3d", with_dimensions<3>},
      {"aten::hstack", beside_each_other},
      {"aten::vstack", below_each_other},
      {"aten::dstack", behind_each_other},
      {"aten::rot90", rotated},
      {"aten::take_along_dim", taken_along},
      {"aten::tensor_split", parts_of_dimension},
      {"aten::as_strided", of_given_size},
      {"aten::one_hot", one_of_classes},
  };
}

}  // namespace mase::ir
