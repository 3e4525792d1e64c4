// SPDX-License-Identifier: Apache-2.0
// TrainableNetwork: forward and backward of a graph in training mode, with gradients in the flat
// buffer.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "torch/run/executor.hpp"
#include "torch/train/parameters.hpp"

namespace mase::train {

/// A network in training: the result of a batch, and the gradients of the parameters.
class TrainableNetwork {
 public:
  virtual ~TrainableNetwork() = default;
  /// Before the first batch of a step: parameters changed. `quantized` says whether the graph's
  /// formats count in it, or the step runs in float.
  virtual void begin_step(bool quantized) = 0;
  /// Runs a batch in training mode. The result is valid until the next call.
  virtual at::Tensor forward(const std::vector<c10::IValue>& inputs) = 0;
  /// Overwrites the parameters' gradients with those of the batch, given d loss / d output.
  virtual void backward(const at::Tensor& output_gradient) = 0;
};

/// By autograd: any graph that the executor runs. Both arguments must outlive the network.
std::unique_ptr<TrainableNetwork> make_autograd_network(libtorch::Executor& executor,
                                                        Parameters& parameters);

/// By layers with hand-written backward steps, without autograd's bookkeeping: graphs of common
/// layers and sums (residual networks), with any formats on their ports. Null for any other graph.
std::unique_ptr<TrainableNetwork> make_layer_network(libtorch::Executor& executor,
                                                     Parameters& parameters);

}  // namespace mase::train
