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

Inferred buckets(const Call& call) { return ValueInfo::tensor(DType::int64, call.input().shape); }

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
      {"aten::constant_pad_nd", padded_with_constant},
  };
}

}  // namespace mase::ir
