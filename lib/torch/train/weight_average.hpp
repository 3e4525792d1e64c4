// SPDX-License-Identifier: Apache-2.0
// The moving average of the weights that ema_decay asks for.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace mase::train {

/// An exponential average of all parameters; empty without a decay.
class WeightAverage {
 public:
  WeightAverage(std::optional<double> decay, std::span<const float> values);

  bool empty() const { return values_.empty(); }
  /// The average follows faster in the first steps, so that it soon forgets the initial weights.
  void update(std::span<const float> values, std::int64_t step);
  /// Exchanges the parameters with their average.
  void swap(std::span<float> values);

  const std::vector<float>& values() const { return values_; }
  void restore(std::vector<float> values) { values_ = std::move(values); }

 private:
  std::optional<double> decay_;
  std::vector<float> values_;
};

}  // namespace mase::train
