// SPDX-License-Identifier: Apache-2.0
// Batch norms folded into the layer before them while a plan runs: the algebra on tensors.
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

/// Parameters of a linear or convolution layer that does its batch norm too.
struct FoldedLayer {
  at::Tensor weight, bias;
};

/// w' = f w and b' = bias - f mean with f = weight / sqrt(variance + epsilon) per output channel
/// (Jacob et al., CVPR 2018, section 3.2). `mean` is that of the layer's output without its bias.
FoldedLayer fold(const at::Tensor& layer_weight, const NormTensors& norm);

/// Whether a batch norm normalises by its statistics in training, too, and does not change them.
bool has_fixed_statistics(const ir::Graph& graph, const ir::Node& norm);

}  // namespace mase::libtorch
