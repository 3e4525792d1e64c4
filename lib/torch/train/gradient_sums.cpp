// SPDX-License-Identifier: Apache-2.0
// Means and norms over flat buffers.
#include "torch/train/gradient_sums.hpp"

#include <ATen/ops/empty_like.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/where.h>

#include <cmath>
#include <optional>
#include <span>

namespace mase::train {

void GradientMean::add(const at::Tensor& gradients, std::int64_t index, std::int64_t count) {
  if (!sums_.defined()) sums_ = at::empty_like(gradients);
  if (index == 0)
    sums_.copy_(gradients);
  else
    sums_.add_(gradients);
  if (index + 1 < count) return;
  gradients.copy_(sums_.mul_(1.0f / static_cast<float>(count)));
}

void clip_gradients(const at::Tensor& gradients, double most) {
  if (!gradients.is_cpu()) return clip_gradients_by_operators(gradients, most);
  const std::span<float> all(gradients.data_ptr<float>(),
                             static_cast<std::size_t>(gradients.numel()));
  double squares = 0;
  for (const float value : all) squares += double(value) * double(value);
  const double norm = std::sqrt(squares);
  if (!(norm > most)) return;
  const auto scale = static_cast<float>(most / norm);
  for (float& value : all) value *= scale;
}

void clip_gradients_by_operators(const at::Tensor& gradients, double most) {
  const at::Tensor norm = at::linalg_vector_norm(gradients, 2, std::nullopt, false, at::kDouble);
  const at::Tensor scale = at::where(norm.gt(most), at::full_like(norm, most).div_(norm), 1.0);
  gradients.mul_(scale.to(at::kFloat));
}

}  // namespace mase::train
