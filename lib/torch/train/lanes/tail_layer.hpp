// SPDX-License-Identifier: Apache-2.0
// Any of a batch norm in training, then 2 x 2 max pooling or a sum, and an activation, over lanes,
// as one layer. Pooling and activation may come in either order, which makes no difference.
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
  void take_addend(const at::Tensor& addend) override { addend_ = addend; }
  at::Tensor addend_gradient() const override { return passed_; }

  /// The parts of `backward`: first the gradients of the parameters, ...
  void begin_backward(const at::Tensor& gradient);
  /// ... then d loss / d input of `count` bundles, bundle by bundle.
  void write_gradient(std::size_t first, std::size_t count, float* into) const;

 private:
  bool absorb_joint(Joint joint);
  bool absorb_activation(const LayerSource& source);
  const Tail& tail() const;
  bool is_pool() const { return joint_ == Joint::pool; }
  bool is_sum() const { return joint_ == Joint::sum; }
  bool asks_winners() const { return is_pool() && running_; }
  void fit_output();
  void find_statistics();
  NormalisedPlane plane(std::size_t p) const;
  void find_sums();            ///< for a sum, also the gradient behind the activation
  InputGradient input_rule();  ///< writes the gradients of weight and bias

  const LaneKernels& kernels_;
  std::shared_ptr<LaneBatch> batch_;
  std::optional<RunningStatistics> running_;  ///< if there is a norm
  Joint joint_ = Joint::none;
  Activation activation_ = Activation::none;
  float low_ = 0, high_ = 0;  ///< for a clamp
  BatchSizes sizes_;
  BatchStatistics statistics_;
  GradientSums gradient_sums_;
  InputGradient rule_;
  at::Tensor input_, addend_, output_, winners_, output_gradient_, gradient_;
  at::Tensor passed_, passed_buffer_;  ///< gradient behind the activation of a sum
};

/// Makes the layer; null for any other kind of node.
std::unique_ptr<LaneTail> make_lane_tail(const LayerSource& source);

}  // namespace mase::train
