// SPDX-License-Identifier: Apache-2.0
// Computes gradients of graphs of common layers with hand-written backward steps.
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/add.h>
#include <ATen/ops/empty_strided.h>

#include "torch/train/layer_steps.hpp"
#include "torch/train/network.hpp"

namespace mase::train {
namespace {

/// The gradient of a value that may have several readers: the sum of their gradients.
class GradientSum {
 public:
  void add(const at::Tensor& gradient) {
    if (!sum_.defined()) {
      sum_ = gradient;
      return;
    }
    if (!buffer_.defined() || buffer_.sizes() != gradient.sizes())
      buffer_ = at::empty_strided(gradient.sizes(), gradient.strides(), gradient.options());
    sum_ = at::add_out(buffer_, sum_, gradient);
  }
  at::Tensor take() { return std::move(sum_); }

 private:
  at::Tensor sum_, buffer_;
};

class LayerNetwork : public TrainableNetwork {
 public:
  explicit LayerNetwork(std::vector<LayerStep> steps)
      : steps_(std::move(steps)),
        wanted_{false},
        values_(steps_.size() + 1),
        sums_(values_.size()) {
    for (const LayerStep& step : steps_)
      wanted_.push_back(step.layer->trains() || wanted_[step.input] ||
                        (step.addend && wanted_[*step.addend]));
  }

  void begin_step(bool quantized) override {
    const at::AutoDispatchBelowADInplaceOrView no_autograd;
    for (const LayerStep& step : steps_) step.layer->begin_step(quantized);
  }

  std::vector<at::Tensor> forward(const std::vector<c10::IValue>& inputs) override {
    const at::AutoDispatchBelowADInplaceOrView no_autograd;
    values_[0] = inputs.front().toTensor();
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const LayerStep& step = steps_[i];
      if (step.addend) step.layer->take_addend(values_[*step.addend]);
      values_[i + 1] = step.layer->forward(values_[step.input]);
    }
    return {values_.back()};
  }

  void backward(const std::vector<at::Tensor>& gradients) override {
    const at::AutoDispatchBelowADInplaceOrView no_autograd;
    if (!wanted_.back()) return;
    sums_.back().add(gradients.front());
    for (std::size_t i = steps_.size(); i-- > 0;)
      if (wanted_[i + 1]) backward(steps_[i], sums_[i + 1].take());
  }

 private:
  void backward(const LayerStep& step, const at::Tensor& gradient) {
    const at::Tensor into = step.layer->backward(gradient, wanted_[step.input]);
    if (wanted_[step.input]) sums_[step.input].add(into);
    if (step.addend && wanted_[*step.addend])
      sums_[*step.addend].add(step.layer->addend_gradient());
  }

  std::vector<LayerStep> steps_;
  std::vector<bool> wanted_;  ///< values that depend on trained parameters
  std::vector<at::Tensor> values_;
  std::vector<GradientSum> sums_;  ///< for the values
};

}  // namespace

std::unique_ptr<TrainableNetwork> make_layer_network(libtorch::Executor& executor,
                                                     Parameters& parameters) {
  auto steps = layer_steps(executor, parameters);
  return steps ? std::make_unique<LayerNetwork>(std::move(*steps)) : nullptr;
}

}  // namespace mase::train
