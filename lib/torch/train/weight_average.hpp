// SPDX-License-Identifier: Apache-2.0
// The moving average of the weights that ema_decay asks for.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace mase::train {

/// An exponential average of all parameters, on their device; empty without a decay.
class WeightAverage {
 public:
  WeightAverage(std::optional<double> decay, const at::Tensor& values);

  bool empty() const { return !decay_; }
  /// The average follows faster in the first steps, so that it soon forgets the initial weights.
  void update(const at::Tensor& values, std::int64_t step);
  /// Exchanges the parameters with their average.
  void swap(const at::Tensor& values);

  /// The average, to be stored and restored; undefined if empty.
  const at::Tensor& values() const { return values_; }

 private:
  std::optional<double> decay_;
  at::Tensor values_;
};

}  // namespace mase::train
