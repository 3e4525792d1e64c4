// SPDX-License-Identifier: Apache-2.0
// Rules of operators that are allowed but stand outside of the op table.
#include "ir/inference/rules.hpp"

namespace mase::ir {
namespace {

Inferred test_of_each(const Call& call) {
  return ValueInfo::tensor(DType::boolean, call.input().shape);
}

Inferred of_pairs(const Call& call) {
  const ValueInfo self = call.tensor("self");
  const auto other = call.find("other");
  call.require(other.has_value(), "it has no second operand");
  return ValueInfo::tensor(call.promoted({self, *other}),
                           call.broadcast({self.shape, other->shape}));
}

/// [N, C, space...] at the places of a grid [N, space..., dimensions].
Inferred sampled(const Call& call) {
  const ValueInfo input = call.tensor("input");
  const Shape grid = call.tensor("grid").shape;
  call.require(
      input.shape.size() >= 4 && grid.size() == input.shape.size() && grid[0] == input.shape[0],
      "the grid does not fit the input");
  return ValueInfo::tensor(
      input.dtype, joined({input.shape[0], input.shape[1]}, part_of(grid, 1, grid.size() - 1)));
}

/// A grid [N, H, W, 2] or [N, D, H, W, 3] for a tensor of `size`.
Inferred grid_of(const Call& call) {
  const ValueInfo theta = call.tensor("theta");
  const Shape size = call.integers("size");
  call.require(size.size() == 4 || size.size() == 5, "it takes four or five sizes");
  Shape shape{size[0]};
  shape.insert(shape.end(), size.begin() + 2, size.end());
  shape.push_back(static_cast<std::int64_t>(size.size()) - 2);
  return ValueInfo::tensor(theta.dtype, shape);
}

/// [N, C * window, places] to [N, C, H, W].
Inferred image_of_columns(const Call& call) {
  const ValueInfo self = call.input();
  const Shape size = call.integers("output_size"), window = call.integers("kernel_size");
  call.require(self.shape.size() == 3 && size.size() == 2 && window.size() == 2 && window[0] > 0 &&
                   window[1] > 0 && self.shape[1] % (window[0] * window[1]) == 0,
               "it takes the columns of whole windows");
  return ValueInfo::tensor(
      self.dtype, {self.shape[0], self.shape[1] / (window[0] * window[1]), size[0], size[1]});
}

Inferred determinants(const Call& call) {
  const ValueInfo matrices = call.tensor("A");
  const std::size_t rank = matrices.shape.size();
  call.require(rank >= 2 && matrices.shape[rank - 1] == matrices.shape[rank - 2],
               "it takes square matrices");
  return ValueInfo::tensor(matrices.dtype, part_of(matrices.shape, 0, rank - 2));
}

/// Significands, and exponents as int32.
Inferred significands(const Call& call) {
  const ValueInfo self = call.input();
  ValueInfo both;
  both.kind = ValueInfo::Kind::tuple;
  both.elements = {self, ValueInfo::tensor(DType::int32, self.shape)};
  return both;
}

/// Elements before and after each dimension, the last one first.
Inferred padded_with_constant(const Call& call) {
  ValueInfo info = call.input();
  const Shape pads = call.integers("pad");
  call.require(pads.size() % 2 == 0 && pads.size() <= 2 * info.shape.size(),
               "it takes two numbers for each dimension");
  for (std::size_t i = 0; i < pads.size(); i += 2)
    info.shape[info.shape.size() - 1 - i / 2] += pads[i] + pads[i + 1];
  return info;
}

Inferred taken_elements(const Call& call) {
  return ValueInfo::tensor(call.input().dtype, call.tensor("index").shape);
}

DType bucket_type(const Call& call) {
  return call.truth("out_int32", false) ? DType::int32 : DType::int64;
}
Inferred buckets(const Call& call) {
  return ValueInfo::tensor(bucket_type(call), call.input().shape);
}

Inferred searched(const Call& call) {
  const auto self = call.find("self");  // a tensor, or a number
  return ValueInfo::tensor(bucket_type(call), self && self->is_tensor() ? self->shape : Shape());
}

Inferred membership(const Call& call) {
  const auto elements = call.find("elements");
  return ValueInfo::tensor(DType::boolean,
                           elements && elements->is_tensor() ? elements->shape : Shape());
}

/// Rows [..., P, M] and [..., R, M] to [..., P, R].
Inferred distances(const Call& call) {
  const ValueInfo one = call.tensor("x1"), other = call.tensor("x2");
  const std::size_t rank = one.shape.size(), other_rank = other.shape.size();
  call.require(rank >= 2 && other_rank >= 2 && one.shape.back() == other.shape.back(),
               "the rows differ in length");
  Shape shape =
      call.broadcast({part_of(one.shape, 0, rank - 2), part_of(other.shape, 0, other_rank - 2)});
  shape.insert(shape.end(), {one.shape[rank - 2], other.shape[other_rank - 2]});
  return ValueInfo::tensor(call.promoted({one, other}), shape);
}

/// A number for each pair of vectors along a dimension.
Inferred number_of_vectors(const Call& call, const char* one, const char* other,
                           std::int64_t dimension) {
  const ValueInfo x = call.tensor(one), y = call.tensor(other);
  Shape shape = call.broadcast({x.shape, y.shape});
  call.require(!shape.empty(), "it takes tensors with dimensions");
  const std::size_t dim = call.dimension("dim", shape.size(), dimension);
  if (call.truth("keepdim", false))
    shape[dim] = 1;
  else
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(dim));
  return ValueInfo::tensor(call.promoted({x, y}), shape);
}
Inferred similarity(const Call& call) { return number_of_vectors(call, "x1", "x2", 1); }
Inferred pair_distance(const Call& call) { return number_of_vectors(call, "x1", "x2", -1); }
Inferred vector_product(const Call& call) { return number_of_vectors(call, "x", "y", -1); }

/// The bags, and what their gradients need: the bag of each index, which plain sums of float32 and
/// narrower leave out, the sizes of the bags, and the places of the largest elements.
Inferred bags(const Call& call) {
  const ValueInfo weight = call.tensor("weight"), indices = call.tensor("indices"),
                  offsets = call.tensor("offsets");
  call.require(weight.shape.size() == 2 && indices.shape.size() == 1 && offsets.shape.size() == 1,
               "it takes a matrix, indices and offsets");
  constexpr std::int64_t sum = 0, max = 2;
  const std::int64_t mode = call.integer("mode", sum);
  const bool ends = call.truth("include_last_offset", false);
  if (indices.dtype != offsets.dtype || (ends && mode == sum)) return std::nullopt;
  const std::int64_t count = offsets.shape[0] - (ends ? 1 : 0);
  call.require(count >= 0, "it has no offset");
  const bool padded = call.value("padding_idx") && call.integer("padding_idx", -1) >= 0;
  const bool plain = mode == sum && !padded && weight.dtype != DType::float64;
  const auto integers = [&](Shape shape) { return ValueInfo::tensor(indices.dtype, shape); };
  const Shape all{count, weight.shape[1]};
  return tuple_info({ValueInfo::tensor(weight.dtype, all), integers({plain ? 0 : indices.shape[0]}),
                     integers({count}), integers(mode == max ? all : Shape{count})});
}

/// A number for two tensors of one shape.
Inferred number_of_two(const Call& call) {
  const ValueInfo self = call.input();
  const auto other = call.find(call.op() == "aten::dot" ? "tensor" : "other");
  call.require(other.has_value(), "it has no second operand");
  return ValueInfo::tensor(call.promoted({self, *other}), {});
}

Inferred number_of_matrix(const Call& call) {
  const ValueInfo self = call.input();
  call.require(self.shape.size() == 2, "it takes a matrix");
  const bool whole = !is_floating(self.dtype);
  return ValueInfo::tensor(whole ? DType::int64 : self.dtype, {});
}

/// at::Reduction: 0 for none, 1 for the mean, 2 for the sum.
Inferred likelihood_loss(const Call& call) {
  const ValueInfo self = call.input();
  if (call.integer("reduction", 1) == 0)
    return ValueInfo::tensor(self.dtype, call.tensor("target").shape);
  return ValueInfo::tensor(self.dtype, {});
}

}  // namespace

std::vector<InferenceRule> outside_rules() {
  return {
      {"aten::isposinf", test_of_each},
      {"aten::isneginf", test_of_each},
      {"aten::bitwise_left_shift", of_pairs},
      {"aten::bitwise_right_shift", of_pairs},
      {"aten::scatter_reduce", same_as_input},
      {"aten::grid_sampler", sampled},
      {"aten::affine_grid_generator", grid_of},
      {"aten::col2im", image_of_columns},
      {"aten::linalg_det", determinants},
      {"aten::nll_loss_nd", likelihood_loss},
      {"aten::frexp", significands},
      {"aten::copysign", of_pairs},
      {"aten::take", taken_elements},
      {"aten::bucketize", buckets},
      {"aten::searchsorted", searched},
      {"aten::isin", membership},
      {"aten::embedding_bag", bags},
      {"aten::cdist", distances},
      {"aten::cosine_similarity", similarity},
      {"aten::pairwise_distance", pair_distance},
      {"aten::linalg_vecdot", vector_product},
      {"aten::cross", of_pairs},
      {"aten::linalg_cross", of_pairs},
      {"aten::hypot", of_pairs},
      {"aten::logaddexp", of_pairs},
      {"aten::dot", number_of_two},
      {"aten::dist", number_of_two},
      {"aten::trace", number_of_matrix},
      {"aten::constant_pad_nd", padded_with_constant},
  };
}

}  // namespace mase::ir
