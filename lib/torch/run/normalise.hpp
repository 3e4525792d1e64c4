// SPDX-License-Identifier: Apache-2.0
// Runs a batch norm in eval mode, and the sum and activation after it, in one pass. The result is
// bit for bit that of LibTorch's three operators, without a tensor for each.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "torch/run/fold_batch_norm.hpp"
#include "torch/run/plan.hpp"

namespace mase::libtorch {

/// Whether the kernels are bit-exact with this LibTorch on this machine; a probe decides this once.
bool normalises_as_libtorch();

/// Computes activation(batch_norm(input) + addend), in place if there is no other reference to the
/// input. `addend` may be undefined. Undefined for tensors not contiguous float32 of one
/// shape on the CPU.
at::Tensor normalise(const at::Tensor& input, const NormTensors& norm, const at::Tensor& addend,
                     const Clamp& activation);

/// Links every batch norm of `steps` to the sum and the activation that can be computed with it:
/// each of them is the only reader of the value before it, and there is no format between them.
void link_norms(std::vector<PlanStep>& steps);

}  // namespace mase::libtorch
