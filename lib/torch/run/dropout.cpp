// SPDX-License-Identifier: Apache-2.0
// Draws for all rows and keeps some.
#include "torch/run/dropout.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/dropout.h>

#include "torch/run/row_draws.hpp"

namespace mase::libtorch {

// These are the operations of aten::dropout, so that the same draws give the same bits.
at::Tensor dropout_factors(const at::Tensor& input, double probability,
                           std::optional<std::size_t> dimension) {
  return draws_of_rows(input, dimension, [probability](const at::Tensor& all) {
    all.bernoulli_(1.0 - probability).div_(1.0 - probability);
  });
}

at::Tensor dropped_out(const at::Tensor& input, double probability, std::size_t dimension) {
  if (!batch_parts_in_use() || !(probability > 0 && probability < 1))
    return at::dropout(input, probability, true);
  return input * dropout_factors(input, probability, dimension);
}

}  // namespace mase::libtorch
