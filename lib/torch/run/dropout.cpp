// SPDX-License-Identifier: Apache-2.0
// Draws for all rows and keeps some.
#include "torch/run/dropout.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "torch/run/batch_parts.hpp"

namespace mase::libtorch {
namespace {

// These are the operations of aten::dropout, so that the same draws give the same bits.
at::Tensor drawn(at::Tensor factors, double probability) {
  return factors.bernoulli_(1.0 - probability).div_(1.0 - probability);
}

/// The dimension of the rows, if the value has any.
std::optional<std::size_t> row_dimension(const at::Tensor& input, std::int64_t rows) {
  const std::vector<std::int64_t> sizes = input.sizes().vec();
  const auto found = std::ranges::find(sizes, rows);
  if (found != sizes.end()) return static_cast<std::size_t>(found - sizes.begin());
  if (!sizes.empty() && sizes.front() % rows == 0) return 0;
  return {};
}

}  // namespace

at::Tensor dropout_factors(const at::Tensor& input, double probability) {
  const BatchParts* const parts = batch_parts_in_use();
  const PartRows rows = parts ? parts->rows() : PartRows{};
  const std::optional<std::size_t> found = parts ? row_dimension(input, rows.own) : std::nullopt;
  if (!found) return drawn(at::empty_like(input), probability);
  std::vector<std::int64_t> shape = input.sizes().vec();
  const std::int64_t of_row = shape[*found] / rows.own;
  shape[*found] = rows.all * of_row;
  return drawn(at::empty(shape, input.options()), probability)
      .narrow(static_cast<std::int64_t>(*found), rows.first * of_row, rows.own * of_row);
}

}  // namespace mase::libtorch
