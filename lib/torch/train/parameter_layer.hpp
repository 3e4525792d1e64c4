// SPDX-License-Identifier: Apache-2.0
// The common part of layers with parameters.
#pragma once

#include "torch/train/batch_norm.hpp"
#include "torch/train/layers.hpp"

namespace mase::train {

/// A layer with weight and bias.
class ParameterLayer : public Layer {
 public:
  explicit ParameterLayer(const LayerSource& source)
      : weight_(layer_tensor(source, "weight")), bias_(layer_tensor(source, "bias")) {}

  bool trains() const override { return weight_.gradient.defined() || bias_.gradient.defined(); }
  void begin_step(bool quantized) override {
    weight_.begin_step(quantized);
    bias_.begin_step(quantized);
  }

 protected:
  void finish_gradients() {
    weight_.finish_gradient();
    bias_.finish_gradient();
  }

  LayerTensor weight_, bias_;
};

/// A batch norm's running statistics.
class RunningStatistics {
 public:
  explicit RunningStatistics(const LayerSource& source);
  double epsilon() const { return epsilon_; }
  /// Blends in the statistics of a batch and counts the batch.
  void add(const BatchStatistics& statistics);

 private:
  at::Tensor mean_, variance_, batches_;
  float momentum_;
  double epsilon_;
};

/// The data of a tensor; null if it is undefined.
inline float* floats(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<float>() : nullptr;
}

}  // namespace mase::train
