// SPDX-License-Identifier: Apache-2.0
// The loops of batch norm; the build vectorises them (lib/CMakeLists.txt).
#include "torch/train/batch_norm.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

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

libtorch::BatchMoments column_moments(const float* in, std::size_t rows, std::size_t channels) {
  libtorch::BatchMoments moments;
  moments.count = static_cast<double>(rows);
  moments.sums = column_sums(rows, channels, [in](std::size_t i, std::size_t) { return in[i]; });
  std::vector<float> means(channels);
  for (std::size_t c = 0; c < channels; ++c)
    means[c] = static_cast<float>(moments.sums[c] / moments.count);
  const float* mean = means.data();
  moments.squares = column_sums(rows, channels, [in, mean](std::size_t i, std::size_t c) {
    return (in[i] - mean[c]) * (in[i] - mean[c]);
  });
  moments.means.assign(means.begin(), means.end());
  return moments;
}

/// Replaces the sums of the own part by those of all parts. Returns whether the own part counts.
bool take_all_parts(GradientSums& own) {
  libtorch::BatchParts* const parts = libtorch::batch_parts_in_use();
  if (!parts) return true;
  const auto channels = static_cast<std::ptrdiff_t>(own.sums.size());
  std::vector<double> both = own.sums;
  both.insert(both.end(), own.products.begin(), own.products.end());
  const std::vector<double> all = libtorch::sum_over(*parts, std::move(both));
  own.sums.assign(all.begin(), all.begin() + channels);
  own.products.assign(all.begin() + channels, all.end());
  return parts->counts();
}

}  // namespace

BatchStatistics batch_statistics(libtorch::BatchMoments moments, double epsilon) {
  libtorch::take_all_parts(moments);
  const std::size_t channels = moments.squares.size();
  BatchStatistics statistics;
  statistics.count = moments.count;
  statistics.mean.assign(moments.means.begin(), moments.means.end());
  statistics.scale.resize(channels);
  statistics.unbiased.resize(channels);
  for (std::size_t c = 0; c < channels; ++c) {
    const double squares = moments.squares[c];
    statistics.scale[c] = static_cast<float>(1.0 / std::sqrt(squares / moments.count + epsilon));
    statistics.unbiased[c] = static_cast<float>(squares / (moments.count - 1.0));
  }
  return statistics;
}

InputGradient input_gradient(GradientSums of, const float* weight,
                             const BatchStatistics& statistics, float* weight_gradient,
                             float* bias_gradient) {
  // dx = (dy - mean(dy) - (x - mean) * scale^2 * mean((x - mean) dy)) * scale * weight
  const std::size_t channels = of.sums.size();
  for (std::size_t c = 0; c < channels; ++c) {
    const double scale = statistics.scale[c];
    if (weight_gradient) weight_gradient[c] = static_cast<float>(of.products[c] * scale);
    if (bias_gradient) bias_gradient[c] = static_cast<float>(of.sums[c]);
  }
  const bool counts = take_all_parts(of);
  InputGradient rule{std::vector<float>(channels), std::vector<float>(channels),
                     std::vector<float>(channels)};
  for (std::size_t c = 0; counts && c < channels; ++c) {
    const double scale = statistics.scale[c];
    rule.factor[c] = static_cast<float>(scale) * (weight ? weight[c] : 1.0f);
    rule.slope[c] = static_cast<float>(of.products[c] * scale * scale / statistics.count);
    rule.average[c] = static_cast<float>(of.sums[c] / statistics.count);
  }
  return rule;
}

void batch_norm_forward(const float* in, std::size_t rows, std::size_t channels,
                        const float* weight, const float* bias, double epsilon, float* out,
                        BatchStatistics& statistics) {
  statistics = batch_statistics(column_moments(in, rows, channels), epsilon);
  const float* mean = statistics.mean.data();
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
  GradientSums sums{
      column_sums(rows, channels, [=](std::size_t i, std::size_t) { return gradient[i]; }),
      column_sums(rows, channels,
                  [=](std::size_t i, std::size_t c) { return (in[i] - mean[c]) * gradient[i]; })};
  const InputGradient rule =
      input_gradient(std::move(sums), weight, statistics, weight_gradient, bias_gradient);
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
