// SPDX-License-Identifier: Apache-2.0
// Batch norm over [rows, channels] in training: forward and backward as plain loops over rows.
#pragma once

#include <cstddef>
#include <vector>

namespace mase::train {

/// The statistics of a batch, kept from the forward pass for the backward pass.
struct BatchStatistics {
  std::vector<float> mean, scale;  ///< per channel; scale = 1 / sqrt(biased variance + epsilon)
  std::vector<float> unbiased;     ///< variance with divisor rows - 1, for the running statistics
};

/// Computes scale and unbiased variance from the sums of squared differences over `count` values.
void finish_statistics(const std::vector<double>& squares, double count, double epsilon,
                       BatchStatistics& statistics);

/// Per channel: dx = (dy - average - (x - mean) * slope) * factor.
struct InputGradient {
  std::vector<float> factor, slope, average;
};
/// Computes the input gradient from the sums of dy and of (x - mean) dy over `count` values, and
/// writes the gradients of weight and bias, if given.
InputGradient input_gradient(const std::vector<double>& sums, const std::vector<double>& products,
                             double count, const float* weight, const BatchStatistics& statistics,
                             float* weight_gradient, float* bias_gradient);

/// Computes out = (in - mean) * scale * weight + bias (Ioffe and Szegedy, ICML 2015). Sums are in
/// float over 64 rows and in double beyond. rows >= 2.
void batch_norm_forward(const float* in, std::size_t rows, std::size_t channels,
                        const float* weight, const float* bias, double epsilon, float* out,
                        BatchStatistics& statistics);

/// Computes d loss / d in, weight and bias from d loss / d out.
void batch_norm_backward(const float* gradient, const float* in, std::size_t rows,
                         std::size_t channels, const float* weight,
                         const BatchStatistics& statistics, float* into, float* weight_gradient,
                         float* bias_gradient);

}  // namespace mase::train
