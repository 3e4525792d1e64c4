// SPDX-License-Identifier: Apache-2.0
// The fused optimiser steps of the CPU. Each loop does per element what torch.optim does with a
// sequence of tensor operations, in the same order of float32 operations. The build vectorises them
// (lib/CMakeLists.txt); contraction is off there, so every machine computes the same bits.
#include "torch/train/optimizer.hpp"

#include <ATen/ops/zeros_like.h>

#include <cmath>

#include "torch/train/optimizer_operators.hpp"

namespace mase::train {
namespace {

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
         float* __restrict buffer, const SgdScalars s) {
  for (std::size_t i = 0; i < count; ++i) {
    const float gradient = gradients[i] + s.decay * values[i];
    buffer[i] = s.momentum * buffer[i] + gradient;
    values[i] -= s.rate * (gradient + s.momentum * buffer[i]);
  }
}

}  // namespace

Optimizer::Optimizer(const backend::TrainOptions& options, const at::Tensor& values,
                     std::size_t decayed)
    : kind_(options.optimizer == "adam"    ? Kind::adam
            : options.optimizer == "adamw" ? Kind::adamw
                                           : Kind::sgd),
      weight_decay_(options.weight_decay),
      momentum_(options.momentum),
      count_(values.numel()),
      decayed_(static_cast<std::int64_t>(decayed)) {
  for (int i = 0; i < (kind_ == Kind::sgd ? 1 : 2); ++i) moments_.push_back(at::zeros_like(values));
}

void Optimizer::step(const at::Tensor& values, const at::Tensor& gradients, double learning_rate,
                     std::int64_t step) {
  take(values.is_cpu() ? By::loops : By::operators, {values, gradients}, learning_rate, step);
}

void Optimizer::step_by_operators(const at::Tensor& values, const at::Tensor& gradients,
                                  double learning_rate, std::int64_t step) {
  take(By::operators, {values, gradients}, learning_rate, step);
}

void Optimizer::take(By by, const Changed& changed, double learning_rate, std::int64_t step) const {
  take(by, changed, {0, decayed_, weight_decay_}, learning_rate, step);
  if (decayed_ < count_) take(by, changed, {decayed_, count_, 0.0}, learning_rate, step);
}

void Optimizer::take(By by, const Changed& changed, const Range& range, double learning_rate,
                     std::int64_t step) const {
  const auto count = static_cast<std::size_t>(range.end - range.first);
  const auto floats = [&](const at::Tensor& all) { return all.data_ptr<float>() + range.first; };
  const auto part = [&](const at::Tensor& all) {
    return all.narrow(0, range.first, range.end - range.first);
  };
  if (kind_ == Kind::sgd) {
    const SgdScalars scalars{static_cast<float>(learning_rate), static_cast<float>(momentum_),
                             static_cast<float>(range.weight_decay)};
    if (by == By::operators)
      sgd_by_operators(part(changed.values), part(changed.gradients), part(moments_[0]), scalars);
    else
      sgd(count, floats(changed.values), floats(changed.gradients), floats(moments_[0]), scalars);
    return;
  }
  const double steps = static_cast<double>(step + 1);
  const bool decoupled = kind_ == Kind::adamw;
  const AdamScalars scalars{
      static_cast<float>(decoupled ? 0.0 : range.weight_decay),
      static_cast<float>(decoupled ? 1.0 - learning_rate * range.weight_decay : 1.0),
      static_cast<float>(learning_rate / (1.0 - std::pow(beta1, steps))),
      static_cast<float>(std::sqrt(1.0 - std::pow(beta2, steps)))};
  if (by == By::operators)
    adam_by_operators(part(changed.values), part(changed.gradients), part(moments_[0]),
                      part(moments_[1]), scalars);
  else
    adam(count, floats(changed.values), floats(changed.gradients), floats(moments_[0]),
         floats(moments_[1]), scalars);
}

}  // namespace mase::train
