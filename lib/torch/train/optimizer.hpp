// SPDX-License-Identifier: Apache-2.0
// Optimizer implements adam, adamw and sgd as one pass over flat parameter buffers, with the
// arithmetic of torch.optim in float32.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/training.hpp"

namespace mase::train {

/// adam: Kingma and Ba, ICLR 2015, with weight decay added to the gradient. adamw: Loshchilov and
/// Hutter, ICLR 2019, with decay applied to the weights. sgd: Nesterov momentum, with weight decay
/// added to the gradient. As in torch.optim, betas are 0.9 and 0.999, and eps is 1e-8.
class Optimizer {
 public:
  /// Weight decay applies only to the first `decayed` of `count` values.
  Optimizer(const backend::TrainOptions& options, std::size_t count, std::size_t decayed);
  Optimizer(const backend::TrainOptions& options, std::size_t count)
      : Optimizer(options, count, count) {}

  /// Changes `values` by one step with `gradients`, `count` floats each. `step` counts from 0.
  void step(float* values, const float* gradients, double learning_rate, std::int64_t step);

  /// The first and second moments (for sgd the momentum buffer), to be stored and restored.
  std::vector<std::vector<float>>& moments() { return moments_; }
  const std::vector<std::vector<float>>& moments() const { return moments_; }

 private:
  enum class Kind { adam, adamw, sgd };
  void step_range(std::size_t first, std::size_t end, double weight_decay, float* values,
                  const float* gradients, double learning_rate, std::int64_t step);
  Kind kind_;
  double weight_decay_, momentum_;
  std::size_t count_, decayed_;
  std::vector<std::vector<float>> moments_;
};

}  // namespace mase::train
