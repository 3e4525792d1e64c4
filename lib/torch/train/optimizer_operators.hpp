// SPDX-License-Identifier: Apache-2.0
// The scalars of optimiser steps, and the steps by operators of LibTorch, for any device.
//
// Each operator is one IEEE operation for each element, in the order of the loops in optimizer.cpp,
// so that a device whose roots are rounded correctly, as CUDA's are, computes the bits of the
// loops. LibTorch's own square root on the CPU is MKL's, whose last bit may differ.
#pragma once

#include <ATen/core/Tensor.h>

namespace mase::train {

inline constexpr double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;

/// The scalars of an adam step, computed in double and rounded once, as in torch.optim.
struct AdamScalars {
  float l2, shrink, step_size, correction;
  static constexpr float blend = static_cast<float>(1.0 - beta1);
  static constexpr float keep = static_cast<float>(beta2);
  static constexpr float add = static_cast<float>(1.0 - beta2);
  static constexpr float eps = static_cast<float>(epsilon);
};

struct SgdScalars {
  float rate, momentum, decay;
};

/// Change all but the gradients in place; all are float32 of one shape on one device.
void adam_by_operators(const at::Tensor& values, const at::Tensor& gradients,
                       const at::Tensor& first, const at::Tensor& second, const AdamScalars& s);
void sgd_by_operators(const at::Tensor& values, const at::Tensor& gradients,
                      const at::Tensor& buffer, const SgdScalars& s);

}  // namespace mase::train
