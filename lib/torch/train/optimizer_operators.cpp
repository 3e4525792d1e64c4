// SPDX-License-Identifier: Apache-2.0
// Optimiser steps by operators.
#include "torch/train/optimizer_operators.hpp"

#include <ATen/ops/full.h>

namespace mase::train {

void adam_by_operators(const at::Tensor& values, const at::Tensor& gradients,
                       const at::Tensor& first, const at::Tensor& second, const AdamScalars& s) {
  const at::Tensor gradient = values.mul(s.l2).add_(gradients);
  first.add_(gradient.sub(first).mul_(s.blend));
  second.mul_(s.keep).add_(gradient.mul(s.add).mul_(gradient));
  // A tensor divides, where some devices multiply by the reciprocal of a number.
  const at::Tensor correction = at::full({}, s.correction, second.options());
  const at::Tensor denominator = second.sqrt().div_(correction).add_(s.eps);
  values.mul_(s.shrink).sub_(first.mul(s.step_size).div_(denominator));
}

void sgd_by_operators(const at::Tensor& values, const at::Tensor& gradients,
                      const at::Tensor& buffer, const SgdScalars& s) {
  const at::Tensor gradient = values.mul(s.decay).add_(gradients);
  buffer.mul_(s.momentum).add_(gradient);
  values.sub_(buffer.mul(s.momentum).add_(gradient).mul_(s.rate));
}

}  // namespace mase::train
