// SPDX-License-Identifier: Apache-2.0
// Batch norm over [rows, channels] in training: forward and backward as plain loops over rows.
#pragma once

#include <cstddef>
#include <vector>

#include "torch/run/batch_parts.hpp"

namespace mase::train {

/// The statistics of a batch, kept from the forward pass for the backward pass.
struct BatchStatistics {
  std::vector<float> mean, scale;  ///< per channel; scale = 1 / sqrt(biased variance + epsilon)
  std::vector<float> unbiased;     ///< variance with divisor count - 1, for the running statistics
  double count = 0;                ///< values of a channel in all parts of the batch
};

/// The statistics of all parts of a batch, from the moments of the own part (batch_parts.hpp).
BatchStatistics batch_statistics(libtorch::BatchMoments moments, double epsilon);

/// Per channel: dx = (dy - average - (x - mean) * slope) * factor.
struct InputGradient {
  std::vector<float> factor, slope, average;
};
/// Sums over the rows of the own part, per channel: of dy, and of (x - mean) dy.
struct GradientSums {
  std::vector<double> sums, products;
};
/// Computes the input gradient, which depends on all parts of the batch, and writes the own part of
/// the gradients of weight and bias, if given.
InputGradient input_gradient(GradientSums own, const float* weight,
                             const BatchStatistics& statistics, float* weight_gradient,
                             float* bias_gradient);

/// Computes out = (in - mean) * scale * weight + bias (Ioffe and Szegedy, ICML 2015). Sums are in
/// float over 64 rows and in double beyond. A batch has two rows or more.
void batch_norm_forward(const float* in, std::size_t rows, std::size_t channels,
                        const float* weight, const float* bias, double epsilon, float* out,
                        BatchStatistics& statistics);

/// Computes d loss / d in, weight and bias from d loss / d out.
void batch_norm_backward(const float* gradient, const float* in, std::size_t rows,
                         std::size_t channels, const float* weight,
                         const BatchStatistics& statistics, float* into, float* weight_gradient,
                         float* bias_gradient);

}  // namespace mase::train
