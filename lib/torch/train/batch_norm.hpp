// SPDX-License-Identifier: Apache-2.0
// Batch norm over [rows, channels] in training, forward and backward, as plain loops over rows.
#pragma once

#include <cstddef>
#include <vector>

namespace mase::train {

/// Statistics of one batch, kept from the forward for the backward pass.
struct BatchStatistics {
  std::vector<float> mean, scale;  ///< per channel; scale = 1 / sqrt(biased variance + epsilon)
  std::vector<float> unbiased;     ///< variance with divisor rows - 1, for the running statistics
};

/// Fills in scale and unbiased variance from the sums of squared differences over `count` values.
void finish_statistics(const std::vector<double>& squares, double count, double epsilon,
                       BatchStatistics& statistics);

/// Per channel: dx = (dy - average - (x - mean) * slope) * factor.
struct InputGradient {
  std::vector<float> factor, slope, average;
};
/// From the sums over `count` values of dy and of (x - mean) dy; writes the gradients of weight and
/// bias, where given.
InputGradient input_gradient(const std::vector<double>& sums, const std::vector<double>& products,
                             double count, const float* weight, const BatchStatistics& statistics,
                             float* weight_gradient, float* bias_gradient);

/// out = (in - mean) * scale * weight + bias (Ioffe and Szegedy, ICML 2015). Sums run in float over
/// 64 rows and in double beyond. rows >= 2.
void batch_norm_forward(const float* in, std::size_t rows, std::size_t channels,
                        const float* weight, const float* bias, double epsilon, float* out,
                        BatchStatistics& statistics);

/// From d loss / d out: d loss / d in, weight and bias.
void batch_norm_backward(const float* gradient, const float* in, std::size_t rows,
                         std::size_t channels, const float* weight,
                         const BatchStatistics& statistics, float* into, float* weight_gradient,
                         float* bias_gradient);

}  // namespace mase::train
