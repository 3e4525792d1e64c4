// SPDX-License-Identifier: Apache-2.0
// Batch norms in training whose rows are one part of a batch.
#pragma once

#include <ATen/core/Tensor.h>

#include <utility>

#include "torch/run/batch_parts.hpp"

namespace mase::libtorch {

/// The arguments of aten::batch_norm. All tensors but the input may be undefined.
struct TrainingNorm {
  at::Tensor input, weight, bias;
  at::Tensor running_mean, running_variance;  ///< updated
  double momentum = 0, epsilon = 0;
};

/// Normalises with the mean and the variance of the whole batch, in the forward pass and in its
/// gradient (Ioffe and Szegedy, ICML 2015), as torch.nn.SyncBatchNorm does. The gradients of weight
/// and bias are those of the own part.
at::Tensor shared_norm(const TrainingNorm& norm, BatchParts& parts);

/// The variance (biased) and the mean of each channel over the whole batch, with gradients, and the
/// number of values of a channel.
struct SharedMoments {
  at::Tensor variance, mean;
  double count = 0;
};
SharedMoments shared_moments(const at::Tensor& input, BatchParts& parts);

}  // namespace mase::libtorch
