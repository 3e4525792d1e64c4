// SPDX-License-Identifier: Apache-2.0
// Means and norms over flat buffers.
#include "torch/train/gradient_sums.hpp"

#include <cmath>

namespace mase::train {

void GradientMean::add(std::span<float> gradients, std::int64_t index, std::int64_t count) {
  if (index == 0)
    sums_.assign(gradients.begin(), gradients.end());
  else
    for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += gradients[i];
  if (index + 1 < count) return;
  const float scale = 1.0f / static_cast<float>(count);
  for (std::size_t i = 0; i < sums_.size(); ++i) gradients[i] = sums_[i] * scale;
}

void clip_gradients(std::span<float> gradients, double most) {
  double squares = 0;
  for (const float value : gradients) squares += double(value) * double(value);
  const double norm = std::sqrt(squares);
  if (!(norm > most)) return;
  const auto scale = static_cast<float>(most / norm);
  for (float& value : gradients) value *= scale;
}

}  // namespace mase::train
