// SPDX-License-Identifier: Apache-2.0
// The arithmetic for folding batch norms into the layers before them while a plan runs.
#pragma once

#include <ATen/core/Tensor.h>

#include "ir/graph.hpp"

namespace mase::libtorch {

/// The arguments of a batch norm, y = (x - mean) / sqrt(variance + epsilon) * weight + bias per
/// channel; weight and bias may be undefined.
struct NormTensors {
  at::Tensor weight, bias, mean, variance;
  double epsilon = 0;
};

/// The parameters of a linear or convolution layer with a batch norm folded in.
struct FoldedLayer {
  at::Tensor weight, bias;
};

/// Computes w' = f w and b' = bias - f mean, where f = weight / sqrt(variance + epsilon) for each
/// channel (Jacob et al., CVPR 2018, section 3.2). `mean` is of the layer's output without bias.
FoldedLayer fold(const at::Tensor& layer_weight, const NormTensors& norm);

/// Adds 1 to the number of batches that a batch norm has seen, int64 on any device.
void count_batch(const at::Tensor& batches);

/// Whether a batch norm uses its running statistics also in training, and does not change them.
bool has_fixed_statistics(const ir::Graph& graph, const ir::Node& norm);

}  // namespace mase::libtorch
