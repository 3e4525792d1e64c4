// SPDX-License-Identifier: Apache-2.0
// Cross entropy, row by row.
#include "torch/train/loss.hpp"

#include <algorithm>
#include <cmath>

namespace mase::train {
namespace {

/// Writes the softmax of `row` to `into` and returns log sum exp.
float softmax(std::span<const float> row, std::span<float> into) {
  // Shifted by the largest output so that nothing overflows.
  const float highest = *std::max_element(row.begin(), row.end());
  float sum = 0;
  for (std::size_t j = 0; j < row.size(); ++j) sum += into[j] = std::exp(row[j] - highest);
  const float scale = 1.0f / sum;
  for (float& value : into) value *= scale;
  return highest + std::log(sum);
}

}  // namespace

double cross_entropy(std::span<const float> outputs, std::span<const std::int64_t> labels,
                     double smoothing, std::span<float> gradient) {
  const std::size_t rows = labels.size(), width = outputs.size() / rows;
  const float spread = static_cast<float>(smoothing / static_cast<double>(width));
  const float keep = static_cast<float>(1.0 - smoothing), mean = 1.0f / static_cast<float>(rows);
  double loss = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto row = outputs.subspan(i * width, width);
    const auto into = gradient.subspan(i * width, width);
    const auto label = static_cast<std::size_t>(labels[i]);
    const float log_sum = softmax(row, into);
    loss += static_cast<double>(keep) * static_cast<double>(log_sum - row[label]);
    if (smoothing > 0)
      for (float value : row) loss += static_cast<double>(spread) * (log_sum - value);
    into[label] -= keep;
    for (float& value : into) value = (value - spread) * mean;
  }
  return loss / static_cast<double>(rows);
}

}  // namespace mase::train
