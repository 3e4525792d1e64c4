// SPDX-License-Identifier: Apache-2.0
// Optimizer implements adam, adamw and sgd over flat parameter buffers, with the arithmetic of
// torch.optim in float32.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "backend/training.hpp"

namespace mase::train {

/// adam: Kingma and Ba, ICLR 2015, with weight decay added to the gradient. adamw: Loshchilov and
/// Hutter, ICLR 2019, with decay applied to the weights. sgd: Nesterov momentum, with weight decay
/// added to the gradient. As in torch.optim, betas are 0.9 and 0.999, and eps is 1e-8.
class Optimizer {
 public:
  /// Updates parameters like `values`: contiguous float32 of one dimension, on any device. Weight
  /// decay applies only to the first `decayed` of them.
  Optimizer(const backend::TrainOptions& options, const at::Tensor& values, std::size_t decayed);

  /// Changes `values` by one step with `gradients`: one pass on the CPU, and operators with the
  /// same arithmetic on other devices. `step` counts from 0.
  void step(const at::Tensor& values, const at::Tensor& gradients, double learning_rate,
            std::int64_t step);
  /// Takes the step by operators, on any device.
  void step_by_operators(const at::Tensor& values, const at::Tensor& gradients,
                         double learning_rate, std::int64_t step);

  /// The first and second moments (for sgd the momentum buffer), to be stored and restored.
  const std::vector<at::Tensor>& moments() const { return moments_; }

 private:
  enum class Kind { adam, adamw, sgd };
  enum class By { loops, operators };
  struct Changed {
    const at::Tensor &values, &gradients;
  };
  struct Range {
    std::int64_t first, end;
    double weight_decay;
  };
  void take(By by, const Changed& changed, double learning_rate, std::int64_t step) const;
  void take(By by, const Changed& changed, const Range& range, double learning_rate,
            std::int64_t step) const;
  Kind kind_;
  double weight_decay_, momentum_;
  std::int64_t count_, decayed_;
  std::vector<at::Tensor> moments_;
};

}  // namespace mase::train
