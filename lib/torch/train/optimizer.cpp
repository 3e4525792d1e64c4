// SPDX-License-Identifier: Apache-2.0
// The fused optimiser steps. Each loop does per element what torch.optim does with a sequence of
// tensor operations, in the same order of float32 operations. The build vectorises them
// (lib/CMakeLists.txt); contraction is off there, so every machine computes the same bits.
#include "torch/train/optimizer.hpp"

#include <cmath>

namespace mase::train {
namespace {

constexpr double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;

/// The scalars of an adam step, computed in double and rounded once, as in torch.optim.
struct AdamScalars {
  float l2, shrink, step_size, correction;
  static constexpr float blend = static_cast<float>(1.0 - beta1);
  static constexpr float keep = static_cast<float>(beta2);
  static constexpr float add = static_cast<float>(1.0 - beta2);
  static constexpr float eps = static_cast<float>(epsilon);
};

void adam(std::size_t count, float* __restrict values, const float* __restrict gradients,
          float* __restrict first, float* __restrict second, const AdamScalars s) {
  for (std::size_t i = 0; i < count; ++i) {
    const float gradient = gradients[i] + s.l2 * values[i];
    first[i] = first[i] + s.blend * (gradient - first[i]);
    second[i] = second[i] * s.keep + s.add * gradient * gradient;
    const float denominator = std::sqrt(second[i]) / s.correction + s.eps;
    values[i] = values[i] * s.shrink - s.step_size * first[i] / denominator;
  }
}

void sgd(std::size_t count, float* __restrict values, const float* __restrict gradients,
         float* __restrict buffer, float rate, float momentum, float decay) {
  for (std::size_t i = 0; i < count; ++i) {
    const float gradient = gradients[i] + decay * values[i];
    buffer[i] = momentum * buffer[i] + gradient;
    values[i] -= rate * (gradient + momentum * buffer[i]);
  }
}

}  // namespace

Optimizer::Optimizer(const backend::TrainOptions& options, std::size_t count, std::size_t decayed)
    : kind_(options.optimizer == "adam"    ? Kind::adam
            : options.optimizer == "adamw" ? Kind::adamw
                                           : Kind::sgd),
      weight_decay_(options.weight_decay),
      momentum_(options.momentum),
      count_(count),
      decayed_(decayed),
      moments_(kind_ == Kind::sgd ? 1 : 2, std::vector<float>(count, 0.0f)) {}

void Optimizer::step(float* values, const float* gradients, double learning_rate,
                     std::int64_t step) {
  step_range(0, decayed_, weight_decay_, values, gradients, learning_rate, step);
  step_range(decayed_, count_, 0.0, values, gradients, learning_rate, step);
}

void Optimizer::step_range(std::size_t first, std::size_t end, double weight_decay, float* values,
                           const float* gradients, double learning_rate, std::int64_t step) {
  const std::size_t count = end - first;
  if (kind_ == Kind::sgd) {
    sgd(count, values + first, gradients + first, moments_[0].data() + first,
        static_cast<float>(learning_rate), static_cast<float>(momentum_),
        static_cast<float>(weight_decay));
    return;
  }
  const double steps = static_cast<double>(step + 1);
  const bool decoupled = kind_ == Kind::adamw;
  const AdamScalars scalars{
      static_cast<float>(decoupled ? 0.0 : weight_decay),
      static_cast<float>(decoupled ? 1.0 - learning_rate * weight_decay : 1.0),
      static_cast<float>(learning_rate / (1.0 - std::pow(beta1, steps))),
      static_cast<float>(std::sqrt(1.0 - std::pow(beta2, steps)))};
  adam(count, values + first, gradients + first, moments_[0].data() + first,
       moments_[1].data() + first, scalars);
}

}  // namespace mase::train
