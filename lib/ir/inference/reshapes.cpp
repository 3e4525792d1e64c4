// SPDX-License-Identifier: Apache-2.0
// Rules of shapes: the same elements in another shape or order, copies, and expansion.
#include <algorithm>

#include "ir/inference/rules.hpp"

namespace mase::ir {
namespace {

using Integers = Call::Integers;

std::ptrdiff_t place(std::size_t dim) { return static_cast<std::ptrdiff_t>(dim); }

/// Sizes of which one may be -1, the rest of `count` elements.
Shape filled_in(const Call& call, Shape sizes, std::int64_t count) {
  const auto rest = std::ranges::find(sizes, -1);
  if (rest != sizes.end()) {
    *rest = 1;
    const std::int64_t others = call.elements(sizes);
    call.require(others > 0 && count % others == 0, "the sizes do not divide the elements");
    *rest = count / others;
  }
  call.require(call.elements(sizes) == count, shape_text(sizes) + " does not have the input's " +
                                                  std::to_string(count) + " elements");
  return sizes;
}

Inferred reshaped(const Call& call) {
  const ValueInfo self = call.input();
  const Integers sizes = call.integers(call.value("shape") ? "shape" : "size");
  return ValueInfo::tensor(self.dtype, filled_in(call, sizes, call.elements(self.shape)));
}

/// As another type of elements, the last dimension has as many bytes as before.
Inferred viewed(const Call& call) {
  const auto dtype = call.dtype();
  if (!dtype) return reshaped(call);
  ValueInfo self = call.input();
  const auto before = static_cast<std::int64_t>(size_of(self.dtype));
  const auto after = static_cast<std::int64_t>(size_of(*dtype));
  if (before != after) {
    call.require(!self.shape.empty() && call.product(self.shape.back(), before) % after == 0,
                 "its last dimension does not divide into elements of the other type");
    self.shape.back() = call.product(self.shape.back(), before) / after;
  }
  return ValueInfo::tensor(*dtype, self.shape);
}

Inferred flattened(const Call& call) {
  ValueInfo self = call.input();
  if (self.shape.empty()) self.shape = {1};
  const std::size_t first = call.dimension("start_dim", self.shape.size(), 0);
  const std::size_t last = call.dimension("end_dim", self.shape.size(), -1);
  call.require(first <= last, "start_dim comes after end_dim");
  const std::int64_t size = call.elements(part_of(self.shape, first, last + 1));
  self.shape.erase(self.shape.begin() + place(first), self.shape.begin() + place(last));
  self.shape[first] = size;
  return self;
}

Inferred unflattened(const Call& call) {
  const ValueInfo self = call.input();
  const std::size_t rank = self.shape.size(), dim = call.dimension("dim", rank, 0);
  call.require(rank > 0, "it takes a tensor with dimensions");
  const Integers sizes = call.integers("sizes");
  return ValueInfo::tensor(self.dtype, joined(joined(part_of(self.shape, 0, dim),
                                                     filled_in(call, sizes, self.shape[dim])),
                                              part_of(self.shape, dim + 1, rank)));
}

/// Without the dimensions of 1, or those among the named ones.
Inferred squeezed(const Call& call) {
  const ValueInfo self = call.input();
  const std::vector<bool> named = call.dimensions("dim", self.shape.size());
  const bool none = call.value("dim") && call.integers("dim").empty();
  Shape shape;
  for (std::size_t d = 0; d < self.shape.size(); ++d)
    if (none || !named[d] || self.shape[d] != 1) shape.push_back(self.shape[d]);
  return ValueInfo::tensor(self.dtype, shape);
}

Inferred unsqueezed(const Call& call) {
  ValueInfo self = call.input();
  const std::size_t dim = call.dimension("dim", self.shape.size() + 1, 0);
  self.shape.insert(self.shape.begin() + place(dim), 1);
  return self;
}

Inferred swapped(const Call& call) {
  ValueInfo self = call.input();
  const std::size_t rank = self.shape.size();
  const bool axes = call.value("axis0") != nullptr;
  const std::size_t a = call.dimension(axes ? "axis0" : "dim0", rank, 0);
  const std::size_t b = call.dimension(axes ? "axis1" : "dim1", rank, 1);
  if (rank > 0) std::swap(self.shape[a], self.shape[b]);
  return self;
}

Inferred transposed_matrix(const Call& call) {
  ValueInfo self = call.input();
  call.require(self.shape.size() < 3, "it takes a matrix");
  std::ranges::reverse(self.shape);
  return self;
}

Inferred transposed_matrices(const Call& call) {
  ValueInfo self = call.input();
  const std::size_t rank = self.shape.size();
  call.require(rank > 1, "it takes matrices");
  std::swap(self.shape[rank - 2], self.shape[rank - 1]);
  return self;
}

Inferred permuted(const Call& call) {
  const ValueInfo self = call.input();
  const Integers dims = call.integers("dims");
  call.require(dims.size() == self.shape.size(), "it takes every dimension once");
  Shape shape;
  std::vector<bool> used(dims.size());
  for (const std::int64_t index : dims) {
    const std::size_t dim = call.dimension(index, dims.size());
    call.require(!used[dim], "it takes every dimension once");
    used[dim] = true;
    shape.push_back(self.shape[dim]);
  }
  return ValueInfo::tensor(self.dtype, shape);
}

/// Dimensions go to other places; the others keep their order.
Inferred moved_dimensions(const Call& call) {
  const ValueInfo self = call.input();
  const std::size_t rank = self.shape.size();
  const Integers from = call.integers("source"), to = call.integers("destination");
  call.require(from.size() == to.size(), "it takes a place for each dimension");
  std::vector<std::optional<std::size_t>> order(rank);
  std::vector<bool> moved(rank);
  for (std::size_t i = 0; i < from.size() && rank > 0; ++i) {
    auto& at = order[call.dimension(to[i], rank)];
    const std::size_t dim = call.dimension(from[i], rank);
    call.require(!at && !moved[dim], "it takes every dimension once");
    at = dim;
    moved[dim] = true;
  }
  Shape shape;
  std::size_t next = 0;
  for (const auto& at : order) {
    while (!at && moved[next]) ++next;
    shape.push_back(self.shape[at ? *at : next++]);
  }
  return ValueInfo::tensor(self.dtype, shape);
}

Inferred reversed_dimensions(const Call& call) {
  ValueInfo self = call.input();
  std::ranges::reverse(self.shape);
  return self;
}

/// -1 keeps a size.
Inferred expanded(const Call& call) {
  const ValueInfo self = call.input();
  Shape shape = call.integers("size");
  call.require(shape.size() >= self.shape.size(), "the shape has too few dimensions");
  const std::size_t added = shape.size() - self.shape.size();
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::int64_t before = d < added ? 1 : self.shape[d - added];
    if (shape[d] == -1 && d >= added) shape[d] = before;
    call.require(shape[d] >= 0 && (before == 1 || before == shape[d]),
                 "a dimension of " + std::to_string(before) + " does not repeat to " +
                     std::to_string(shape[d]));
  }
  return ValueInfo::tensor(self.dtype, shape);
}

/// As another tensor.
Inferred shaped_as_other(const Call& call) {
  const ValueInfo self = call.input(), other = call.tensor("other");
  const bool expands = call.op() == "aten::expand_as";
  call.require(expands ? call.broadcast({self.shape, other.shape}) == other.shape
                       : call.elements(self.shape) == call.elements(other.shape),
               "the other tensor's shape does not hold it");
  return ValueInfo::tensor(self.dtype, other.shape);
}

/// Two numbers per dimension, the last dimension first.
Inferred padded(const Call& call) {
  ValueInfo self = call.input();
  const Integers pads = call.integers("pad");
  call.require(pads.size() % 2 == 0 && pads.size() <= 2 * self.shape.size(),
               "it takes two numbers per dimension");
  for (std::size_t i = 0; i < pads.size(); ++i) {
    std::int64_t& size = self.shape[self.shape.size() - 1 - i / 2];
    size = call.sum(size, pads[i]);
    call.require(i % 2 == 0 || size >= 0, "it removes more than there is");
  }
  return self;
}

/// The values, or constants in their shape, in a dtype that may be given.
Inferred copied(const Call& call) {
  const ValueInfo self = call.input();
  const auto other = call.find("other");
  const DType dtype = other && other->is_tensor() ? other->dtype : self.dtype;
  return ValueInfo::tensor(call.dtype().value_or(dtype), self.shape);
}

/// What a value is, a container too.
Inferred passed_on(const Call& call) {
  call.require(!call.node().args.empty(), "it has no argument");
  return call.info_of(call.node().args.front().value);
}

}  // namespace

std::vector<InferenceRule> reshape_rules() {
  return {
      {OpFamily::reshape, reshaped},
      {"aten::view", viewed},
      {"aten::flatten", flattened},
      {"aten::unflatten", unflattened},
      {"aten::squeeze", squeezed},
      {"aten::unsqueeze", unsqueezed},
      {OpFamily::transpose, swapped},
      {"aten::t", transposed_matrix},
      {"aten::mT", transposed_matrices},
      {OpFamily::permute, permuted},
      {"aten::numpy_T", reversed_dimensions},
      {"aten::swapaxes", swapped},
      {"aten::swapdims", swapped},
      {"aten::movedim", moved_dimensions},
      {"aten::moveaxis", moved_dimensions},
      {OpFamily::expand, expanded},
      {"aten::reshape_as", shaped_as_other},
      {"aten::view_as", shaped_as_other},
      {"aten::expand_as", shaped_as_other},
      {"aten::broadcast_to", expanded},
      {OpFamily::pad, padded},
      {OpFamily::copy, copied},
      {"mase::identity", passed_on},
  };
}

}  // namespace mase::ir
