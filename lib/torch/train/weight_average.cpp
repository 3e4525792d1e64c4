// SPDX-License-Identifier: Apache-2.0
// Updates and exchanges the average.
#include "torch/train/weight_average.hpp"

#include <algorithm>

namespace mase::train {

WeightAverage::WeightAverage(std::optional<double> decay, std::span<const float> values)
    : decay_(decay) {
  if (decay_) values_.assign(values.begin(), values.end());
}

void WeightAverage::update(std::span<const float> values, std::int64_t step) {
  if (!decay_) return;
  const auto done = static_cast<double>(step);
  const auto share = static_cast<float>(1 - std::min(*decay_, (1 + done) / (10 + done)));
  for (std::size_t i = 0; i < values_.size(); ++i) values_[i] += share * (values[i] - values_[i]);
}

void WeightAverage::swap(std::span<float> values) {
  if (decay_) std::ranges::swap_ranges(values, values_);
}

}  // namespace mase::train
