// SPDX-License-Identifier: Apache-2.0
// Batch norm in training, 2 x 2 max pooling and ReLU over lanes, as one layer: any of them, in an
// order that makes no difference.
#pragma once

#include <optional>

#include "torch/train/lanes/layers.hpp"
#include "torch/train/parameter_layer.hpp"

namespace mase::train {

class LaneTail : public ParameterLayer {
 public:
  explicit LaneTail(const LayerSource& source);

  Layout layout() const override { return Layout::lanes; }
  bool absorb(const LayerSource& source) override;
  at::Tensor forward(const at::Tensor& input) override;
  at::Tensor backward(const at::Tensor& gradient, bool wanted) override;

  /// The parts of `backward`: the parameters' gradients first, ...
  void begin_backward(const at::Tensor& gradient);
  /// ... then d loss / d input of `count` bundles, bundle by bundle.
  void write_gradient(std::size_t first, std::size_t count, float* into) const;

 private:
  const Tail& tail() const;
  bool asks_winners() const { return pool_ && running_; }
  void fit_output();
  void find_statistics();
  double count() const;  ///< values of a channel in the batch
  NormalisedPlane plane(std::size_t p) const;
  InputGradient input_rule();  ///< writes the gradients of weight and bias

  const LaneKernels& kernels_;
  std::shared_ptr<LaneBatch> batch_;
  std::optional<RunningStatistics> running_;  ///< with a norm
  bool pool_ = false, relu_ = false;
  BatchSizes sizes_;
  BatchStatistics statistics_;
  InputGradient rule_;
  at::Tensor input_, output_, winners_, output_gradient_, gradient_;
};

/// Null for a node that is nothing of the kind.
std::unique_ptr<LaneTail> make_lane_tail(const LayerSource& source);

}  // namespace mase::train
