// SPDX-License-Identifier: Apache-2.0
// Updates and exchanges the average.
#include "torch/train/weight_average.hpp"

#include <algorithm>

namespace mase::train {

WeightAverage::WeightAverage(std::optional<double> decay, const at::Tensor& values)
    : decay_(decay) {
  if (decay_) values_ = values.clone();
}

void WeightAverage::update(const at::Tensor& values, std::int64_t step) {
  if (!decay_) return;
  const auto done = static_cast<double>(step);
  const auto share = static_cast<float>(1 - std::min(*decay_, (1 + done) / (10 + done)));
  if (!values.is_cpu()) {
    values_.add_(values.sub(values_).mul_(share));
    return;
  }
  float* const average = values_.data_ptr<float>();
  const float* const now = values.data_ptr<float>();
  for (std::int64_t i = 0; i < values.numel(); ++i) average[i] += share * (now[i] - average[i]);
}

void WeightAverage::swap(const at::Tensor& values) {
  if (!decay_) return;
  const at::Tensor kept = values.clone();
  values.copy_(values_);
  values_ = kept;
}

}  // namespace mase::train
