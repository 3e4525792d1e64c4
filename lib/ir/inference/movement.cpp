// SPDX-License-Identifier: Apache-2.0
// Rules of tensors that are joined, cut, repeated and chosen from.
#include <algorithm>

#include "ir/inference/rules.hpp"

namespace mase::ir {
namespace {

using Integers = Call::Integers;
constexpr std::int64_t most_parts = 1 << 20;

std::vector<ValueInfo> joined_operands(const Call& call) {
  std::vector<ValueInfo> tensors = call.tensors("tensors");
  call.require(!tensors.empty(), "it joins no tensor");
  return tensors;
}

/// Empty vectors count as nothing, whatever the rank of the others.
Inferred concatenated(const Call& call) {
  const std::vector<ValueInfo> tensors = joined_operands(call);
  std::optional<Shape> joined;
  std::size_t dim = 0;
  for (const ValueInfo& tensor : tensors) {
    const Shape& shape = tensor.shape;
    if (shape == Shape{0}) continue;
    if (!joined) {
      call.require(!shape.empty(), "a tensor without dimensions cannot be joined");
      dim = call.dimension("dim", shape.size(), 0);
      joined = shape;
      continue;
    }
    call.require(shape.size() == joined->size(), "the ranks differ");
    for (std::size_t d = 0; d < shape.size(); ++d) {
      call.require(d == dim || shape[d] == (*joined)[d], "the other dimensions differ");
      if (d == dim) (*joined)[d] = call.sum((*joined)[d], shape[d]);
    }
  }
  return ValueInfo::tensor(call.promoted(tensors), joined.value_or(Shape{0}));
}

Inferred stacked(const Call& call) {
  const std::vector<ValueInfo> tensors = joined_operands(call);
  Shape shape = tensors.front().shape;
  for (const ValueInfo& tensor : tensors) call.require(tensor.shape == shape, "the shapes differ");
  const std::size_t dim = call.dimension("dim", shape.size() + 1, 0);
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(dim),
               static_cast<std::int64_t>(tensors.size()));
  return ValueInfo::tensor(call.promoted(tensors), shape);
}

/// A list of parts of these sizes.
ValueInfo parts_of(const ValueInfo& whole, std::size_t dim, const Integers& sizes) {
  std::vector<ValueInfo> parts(sizes.size(), whole);
  for (std::size_t i = 0; i < sizes.size(); ++i) parts[i].shape[dim] = sizes[i];
  return container_info(InfoKind::list, std::move(parts));
}

/// Parts of the same size, of which the last may be smaller; an empty tensor is one part.
Integers equal_parts(const Call& call, std::int64_t whole, std::int64_t part) {
  call.require(part > 0 || (part == 0 && whole == 0), "the parts would be empty");
  call.require(part == 0 || whole / part < most_parts, "there would be too many parts");
  Integers sizes;
  for (std::int64_t left = whole; left > 0; left -= part) sizes.push_back(std::min(left, part));
  return sizes.empty() ? Integers{0} : sizes;
}

Inferred chunks(const Call& call) {
  const ValueInfo self = call.input();
  const std::size_t dim = call.dimension("dim", self.shape.size(), 0);
  const std::int64_t count = call.integer("chunks", 1);
  call.require(!self.shape.empty() && count > 0 && count <= most_parts,
               "it takes a tensor with dimensions and a positive number");
  const std::int64_t whole = self.shape[dim];
  const std::int64_t part = whole / count + (whole % count != 0 ? 1 : 0);
  if (part == 0) return parts_of(self, dim, Integers(static_cast<std::size_t>(count), 0));
  return parts_of(self, dim, equal_parts(call, whole, part));
}

Inferred pieces(const Call& call) {
  const ValueInfo self = call.input();
  call.require(!self.shape.empty(), "it takes a tensor with dimensions");
  const std::size_t dim = call.dimension("dim", self.shape.size(), 0);
  const char* name = call.value("split_sizes") ? "split_sizes" : "split_size";
  const auto given = call.find(name);
  if (given && given->kind == InfoKind::integer)
    return parts_of(self, dim, equal_parts(call, self.shape[dim], call.integer(name, 1)));
  const Integers sizes = call.integers(name);
  std::int64_t sum = 0;
  for (const std::int64_t size : sizes) sum = call.sum(sum, size);
  call.require(sum == self.shape[dim], "the sizes are not the dimension's");
  return parts_of(self, dim, sizes);
}

Inferred unbound(const Call& call) {
  ValueInfo self = call.input();
  call.require(!self.shape.empty(), "it takes a tensor with dimensions");
  const std::size_t dim = call.dimension("dim", self.shape.size(), 0);
  const std::int64_t count = self.shape[dim];
  call.require(count <= most_parts, "there would be too many parts");
  self.shape.erase(self.shape.begin() + static_cast<std::ptrdiff_t>(dim));
  return container_info(InfoKind::list,
                        std::vector<ValueInfo>(static_cast<std::size_t>(count), self));
}

Inferred selected(const Call& call) {
  ValueInfo self = call.input();
  call.require(!self.shape.empty(), "it takes a tensor with dimensions");
  const std::size_t dim = call.dimension("dim", self.shape.size(), 0);
  const std::int64_t index = call.integer("index", 0), size = self.shape[dim];
  call.require(index >= -size && index < size, "the index is out of range");
  self.shape.erase(self.shape.begin() + static_cast<std::ptrdiff_t>(dim));
  return self;
}

Inferred sliced(const Call& call) {
  ValueInfo self = call.input();
  call.require(!self.shape.empty(), "it takes a tensor with dimensions");
  std::int64_t& size = self.shape[call.dimension("dim", self.shape.size(), 0)];
  size = slice_length(call, size, call.integer("start", 0), call.integer("end", size),
                      call.integer("step", 1));
  return self;
}

Inferred narrowed(const Call& call) {
  ValueInfo self = call.input();
  call.require(!self.shape.empty(), "it takes a tensor with dimensions");
  std::int64_t& size = self.shape[call.dimension("dim", self.shape.size(), 0)];
  const std::int64_t length = call.integer("length", 0);
  call.require(length >= 0 && length <= size, "the range is too long");
  size = length;
  return self;
}

/// Repeats align at the last dimension; where they are fewer than the dimensions, those of `tile`
/// begin with 1.
Shape repeated_shape(const Call& call, Shape shape, Integers repeats) {
  if (repeats.size() > shape.size()) shape.insert(shape.begin(), repeats.size() - shape.size(), 1);
  if (repeats.size() < shape.size())
    repeats.insert(repeats.begin(), shape.size() - repeats.size(), 1);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    shape[d] = call.product(shape[d], repeats[d]);
  }
  return shape;
}

Inferred repeated(const Call& call) {
  const ValueInfo self = call.input();
  const Integers repeats = call.integers("repeats");
  call.require(repeats.size() >= self.shape.size(), "it takes a number for each dimension");
  return ValueInfo::tensor(self.dtype, repeated_shape(call, self.shape, repeats));
}

Inferred tiled(const Call& call) {
  const ValueInfo self = call.input();
  return ValueInfo::tensor(self.dtype, repeated_shape(call, self.shape, call.integers("dims")));
}

/// Every element so many times; without a dimension, of the flattened tensor.
Inferred repeated_elements(const Call& call) {
  ValueInfo self = call.input();
  const auto given = call.find("repeats");
  if (!given || given->kind != InfoKind::integer) call.depends_on_values();
  if (!call.value("dim")) self.shape = {call.elements(self.shape)};
  const std::size_t dim = call.dimension("dim", self.shape.size(), 0);
  call.require(!self.shape.empty(), "it takes a tensor with dimensions");
  Integers repeats(self.shape.size(), 1);
  repeats[dim] = call.integer("repeats", 1);
  return ValueInfo::tensor(self.dtype, repeated_shape(call, self.shape, repeats));
}

/// The values in order, and their places.
Inferred sorted(const Call& call) {
  const ValueInfo self = call.input();
  return tuple_info({self, ValueInfo::tensor(DType::int64, self.shape)});
}

Inferred places_in_order(const Call& call) {
  return ValueInfo::tensor(DType::int64, call.input().shape);
}

Inferred largest(const Call& call) {
  ValueInfo self = call.input();
  const std::size_t dim = call.dimension("dim", self.shape.size(), -1);
  if (!self.shape.empty()) self.shape[dim] = call.integer("k", 1);
  return tuple_info({self, ValueInfo::tensor(DType::int64, self.shape)});
}

Inferred gathered(const Call& call) {
  return ValueInfo::tensor(call.input().dtype, call.tensor("index").shape);
}

Inferred chosen_places(const Call& call) {
  ValueInfo self = call.input();
  const Shape index = call.tensor("index").shape;
  call.require(index.size() < 2, "the index is not a vector");
  const std::size_t dim = call.dimension("dim", self.shape.size(), 0);
  if (!self.shape.empty()) self.shape[dim] = call.elements(index);
  return self;
}

}  // namespace

std::int64_t slice_length(const Call& call, std::int64_t size, std::int64_t first,
                          std::int64_t last, std::int64_t step) {
  call.require(step > 0, "the step is not positive");
  const auto bound = [&](std::int64_t index) {
    return std::clamp<std::int64_t>(index < 0 ? index + size : index, 0, size);
  };
  const std::int64_t length = std::max<std::int64_t>(bound(last) - bound(first), 0);
  return length / step + (length % step != 0 ? 1 : 0);
}

std::vector<InferenceRule> movement_rules() {
  return {
      {OpFamily::concatenation, concatenated},
      {"aten::concatenate", concatenated},
      {"aten::stack", stacked},
      {"aten::chunk", chunks},
      {"aten::split", pieces},
      {"aten::split_with_sizes", pieces},
      {"aten::unbind", unbound},
      {"aten::select", selected},
      {"aten::slice", sliced},
      {"aten::narrow", narrowed},
      {"aten::repeat", repeated},
      {"aten::tile", tiled},
      {"aten::flip", same_as_input},
      {"aten::roll", same_as_input},
      {"aten::triu", same_as_input},
      {"aten::tril", same_as_input},
      {"aten::gather", gathered},
      {"aten::index_select", chosen_places},
      {"aten::scatter", same_as_input},
      {"aten::select_scatter", same_as_input},
      {"aten::slice_scatter", same_as_input},
      {"aten::diagonal_scatter", same_as_input},
      {"aten::index_put", same_as_input},
      {"aten::masked_scatter", same_as_input},
      {"aten::unsafe_chunk", chunks},
      {"aten::unsafe_split", pieces},
      {"aten::repeat_interleave", repeated_elements},
      {"aten::sort", sorted},
      {"aten::argsort", places_in_order},
      {"aten::topk", largest},
  };
}

}  // namespace mase::ir
