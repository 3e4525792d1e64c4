// SPDX-License-Identifier: Apache-2.0
// What happens to gradients between the backward pass and the optimiser.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace mase::train {

/// The mean of gradients over the batches of a step.
class GradientMean {
 public:
  /// Takes the gradients of the next batch of `count`, and replaces those of the last one by the
  /// mean.
  void add(std::span<float> gradients, std::int64_t index, std::int64_t count);

 private:
  std::vector<float> sums_;
};

/// Scales all gradients so that their norm is at most this (Pascanu et al., ICML 2013).
void clip_gradients(std::span<float> gradients, double most);

}  // namespace mase::train
