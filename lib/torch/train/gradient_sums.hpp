// SPDX-License-Identifier: Apache-2.0
// What happens to gradients between the backward pass and the optimiser.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace mase::train {

/// The mean of gradients over the batches of a step.
class GradientMean {
 public:
  /// Takes the gradients of the next batch of `count`, and replaces those of the last one by the
  /// mean.
  void add(const at::Tensor& gradients, std::int64_t index, std::int64_t count);

 private:
  at::Tensor sums_;
};

/// Scales all gradients so that their norm is at most this (Pascanu et al., ICML 2013). The norm is
/// a sum in double, whose order of additions is that of the device.
void clip_gradients(const at::Tensor& gradients, double most);
/// The same by operators, of which nothing comes to the CPU.
void clip_gradients_by_operators(const at::Tensor& gradients, double most);

}  // namespace mase::train
