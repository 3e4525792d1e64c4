// SPDX-License-Identifier: Apache-2.0
// TrainableNetwork runs a graph forward and backward in training mode, with gradients in the flat
// buffer.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "torch/run/executor.hpp"
#include "torch/train/parameters.hpp"

namespace mase::train {

/// A network in training, which computes the result of a batch and the gradients of parameters.
class TrainableNetwork {
 public:
  virtual ~TrainableNetwork() = default;
  /// Called before the first batch of a step, after parameters have changed. `quantized` tells
  /// whether the graph's formats apply or the step runs in float.
  virtual void begin_step(bool quantized) = 0;
  /// Runs a batch in training mode. The results are valid until the next call.
  virtual std::vector<at::Tensor> forward(const std::vector<c10::IValue>& inputs) = 0;
  /// Overwrites the parameters' gradients with those of the batch, given d loss / d result for
  /// each result; undefined for one without a target.
  virtual void backward(const std::vector<at::Tensor>& gradients) = 0;
};

/// A network that uses autograd, for any graph of the executor. The arguments must outlive it.
std::unique_ptr<TrainableNetwork> make_autograd_network(libtorch::Executor& executor,
                                                        Parameters& parameters);

/// A network of layers with hand-written backward steps, without the bookkeeping of autograd, for
/// graphs of common layers and sums (residual networks), with any formats. Null for other graphs.
std::unique_ptr<TrainableNetwork> make_layer_network(libtorch::Executor& executor,
                                                     Parameters& parameters);

}  // namespace mase::train
