// SPDX-License-Identifier: Apache-2.0
// Computes gradients of any graph with autograd.
#include <ATen/core/grad_mode.h>
#include <ATen/core/ivalue.h>

#include "base/error.hpp"
#include "torch/train/checks.hpp"
#include "torch/train/network.hpp"

namespace mase::train {
namespace {

class AutogradNetwork : public TrainableNetwork {
 public:
  AutogradNetwork(libtorch::Executor& executor, Parameters& parameters)
      : executor_(executor), parameters_(parameters) {
    for (const Parameters::LearnedStep& step : parameters.steps())
      executor.learn_step(step.node, step.port, step.entry.leaf);
  }

  void begin_step(bool quantized) override {
    executor_.set_level(quantized ? ir::Level::quantized : ir::Level::floating);
  }

  at::Tensor forward(const std::vector<c10::IValue>& inputs) override {
    output_ = class_scores(executor_.run_training(inputs));
    return output_;
  }

  void backward(const at::Tensor& output_gradient) override {
    if (!output_.requires_grad())
      config_error("the model's output depends on no trainable parameter");
    output_.backward(output_gradient);
    output_.reset();
    for (const Parameters::Entry& entry : parameters_.entries()) take_gradient(entry);
    for (const Parameters::LearnedStep& step : parameters_.steps()) take_gradient(step.entry);
  }

 private:
  /// Takes the gradient. If the leaf has none, autograd passes its own tensor without an addition.
  static void take_gradient(const Parameters::Entry& entry) {
    at::Tensor leaf = entry.leaf;
    at::Tensor& gradient = leaf.mutable_grad();
    at::Tensor into = entry.gradient;
    const at::AutoGradMode no_gradients(false);
    if (gradient.defined())
      into.copy_(gradient);
    else
      into.zero_();
    gradient.reset();
  }

  libtorch::Executor& executor_;
  Parameters& parameters_;
  at::Tensor output_;
};

}  // namespace

std::unique_ptr<TrainableNetwork> make_autograd_network(libtorch::Executor& executor,
                                                        Parameters& parameters) {
  return std::make_unique<AutogradNetwork>(executor, parameters);
}

}  // namespace mase::train
