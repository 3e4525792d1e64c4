// SPDX-License-Identifier: Apache-2.0
// The loops of a batch norm in eval mode, y = x * alpha + beta, with a sum and an activation.
#pragma once

#include <cstddef>

#include "simd/kernels.hpp"

namespace mase::libtorch {

/// An activation after a norm: none, ReLU, or bounds (ReLU6).
struct Clamp {
  enum class Kind { none, lower, both } kind = Kind::none;
  float low = 0, high = 0;
};

/// alpha = weight / sqrt(variance + epsilon), beta = bias - mean * alpha. Weight and bias may be
/// null.
struct NormTerms {
  const float *weight = nullptr, *bias = nullptr, *mean = nullptr, *variance = nullptr;
  float epsilon = 0;
};

/// A plane of `count` values of one channel or, if `by_element`, a row of `count` channels.
/// `addend` may be null.
struct NormSpan {
  const float* in = nullptr;
  const float* addend = nullptr;
  const float *alpha = nullptr, *beta = nullptr;
  std::size_t count = 0;
  bool by_element = false;
};

struct NormKernels {
  void (*terms)(const NormTerms& from, std::size_t channels, float* alpha, float* beta);
  void (*span)(const NormSpan& span, const Clamp& activation, float* out);
};

MASE_KERNELS(NormKernels, norm_kernels, avx512);

}  // namespace mase::libtorch
