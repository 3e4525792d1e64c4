// SPDX-License-Identifier: Apache-2.0
// A batch norm in eval mode, with the sum and the activation behind it in the same pass: the bits
// of LibTorch's three operators without a tensor for each.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "torch/run/fold_batch_norm.hpp"
#include "torch/run/plan.hpp"

namespace mase::libtorch {

/// Whether the kernels give the bits of this LibTorch on this machine; found once, on a probe.
bool normalises_as_libtorch();

/// activation(batch_norm(input) + addend), over the input when nobody else sees it; `addend` may be
/// undefined. Undefined for tensors that are not contiguous float32 of one shape.
at::Tensor normalise(const at::Tensor& input, const NormTensors& norm, const at::Tensor& addend,
                     const Clamp& activation);

/// Notes at every batch norm of `steps` the sum and the activation that may be done with it: each
/// is the only reader of what comes before it, and no format stands between them.
void link_norms(std::vector<PlanStep>& steps);

}  // namespace mase::libtorch
