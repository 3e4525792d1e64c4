// SPDX-License-Identifier: Apache-2.0
// The loops of batch norm; the build vectorises them (lib/CMakeLists.txt).
#include "torch/train/batch_norm.hpp"

#include <algorithm>
#include <cmath>

namespace mase::train {
namespace {

constexpr std::size_t block_rows = 64;

/// Per channel: the sum over rows of value(row offset, channel).
template <class F>
std::vector<double> column_sums(std::size_t rows, std::size_t channels, F&& value) {
  std::vector<double> sums(channels, 0.0);
  std::vector<float> block(channels);
  float* __restrict partial = block.data();
  for (std::size_t first = 0; first < rows; first += block_rows) {
    std::fill(block.begin(), block.end(), 0.0f);
    for (std::size_t row = first; row < std::min(rows, first + block_rows); ++row)
      for (std::size_t c = 0; c < channels; ++c) partial[c] += value(row * channels + c, c);
    for (std::size_t c = 0; c < channels; ++c) sums[c] += static_cast<double>(block[c]);
  }
  return sums;
}

}  // namespace

void finish_statistics(const std::vector<double>& squares, double count, double epsilon,
                       BatchStatistics& statistics) {
  const std::size_t channels = squares.size();
  statistics.scale.resize(channels);
  statistics.unbiased.resize(channels);
  for (std::size_t c = 0; c < channels; ++c) {
    statistics.scale[c] = static_cast<float>(1.0 / std::sqrt(squares[c] / count + epsilon));
    statistics.unbiased[c] = static_cast<float>(squares[c] / (count - 1.0));
  }
}

InputGradient input_gradient(const std::vector<double>& sums, const std::vector<double>& products,
                             double count, const float* weight, const BatchStatistics& statistics,
                             float* weight_gradient, float* bias_gradient) {
  // dx = (dy - mean(dy) - (x - mean) * scale^2 * mean((x - mean) dy)) * scale * weight
  const std::size_t channels = sums.size();
  InputGradient rule{std::vector<float>(channels), std::vector<float>(channels),
                     std::vector<float>(channels)};
  for (std::size_t c = 0; c < channels; ++c) {
    const double scale = statistics.scale[c];
    if (weight_gradient) weight_gradient[c] = static_cast<float>(products[c] * scale);
    if (bias_gradient) bias_gradient[c] = static_cast<float>(sums[c]);
    rule.factor[c] = static_cast<float>(scale) * (weight ? weight[c] : 1.0f);
    rule.slope[c] = static_cast<float>(products[c] * scale * scale / count);
    rule.average[c] = static_cast<float>(sums[c] / count);
  }
  return rule;
}

void batch_norm_forward(const float* in, std::size_t rows, std::size_t channels,
                        const float* weight, const float* bias, double epsilon, float* out,
                        BatchStatistics& statistics) {
  const auto count = static_cast<double>(rows);
  const auto sums = column_sums(rows, channels, [in](std::size_t i, std::size_t) { return in[i]; });
  statistics.mean.resize(channels);
  for (std::size_t c = 0; c < channels; ++c)
    statistics.mean[c] = static_cast<float>(sums[c] / count);
  const float* mean = statistics.mean.data();
  const auto squares = column_sums(rows, channels, [in, mean](std::size_t i, std::size_t c) {
    return (in[i] - mean[c]) * (in[i] - mean[c]);
  });
  finish_statistics(squares, count, epsilon, statistics);
  std::vector<float> factor(channels), offset(channels);
  for (std::size_t c = 0; c < channels; ++c) {
    factor[c] = statistics.scale[c] * (weight ? weight[c] : 1.0f);
    offset[c] = (bias ? bias[c] : 0.0f) - mean[c] * factor[c];
  }
  const float* __restrict by = factor.data();
  const float* __restrict plus = offset.data();
  float* __restrict to = out;
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t c = 0; c < channels; ++c)
      to[row * channels + c] = in[row * channels + c] * by[c] + plus[c];
}

void batch_norm_backward(const float* gradient, const float* in, std::size_t rows,
                         std::size_t channels, const float* weight,
                         const BatchStatistics& statistics, float* into, float* weight_gradient,
                         float* bias_gradient) {
  const float* mean = statistics.mean.data();
  const auto sums =
      column_sums(rows, channels, [=](std::size_t i, std::size_t) { return gradient[i]; });
  const auto products = column_sums(rows, channels, [=](std::size_t i, std::size_t c) {
    return (in[i] - mean[c]) * gradient[i];
  });
  const InputGradient rule = input_gradient(sums, products, static_cast<double>(rows), weight,
                                            statistics, weight_gradient, bias_gradient);
  const float* __restrict by = rule.factor.data();
  const float* __restrict along = rule.slope.data();
  const float* __restrict less = rule.average.data();
  float* __restrict to = into;
  for (std::size_t row = 0; to && row < rows; ++row)
    for (std::size_t c = 0; c < channels; ++c) {
      const std::size_t i = row * channels + c;
      to[i] = (gradient[i] - less[c] - (in[i] - mean[c]) * along[c]) * by[c];
    }
}

}  // namespace mase::train
