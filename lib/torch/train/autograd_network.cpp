// SPDX-License-Identifier: Apache-2.0
// Computes gradients of any graph with autograd.
#include <ATen/core/grad_mode.h>
#include <ATen/core/ivalue.h>
#include <ATen/ops/add.h>
#include <ATen/ops/mul.h>
#include <c10/core/AutogradState.h>

#include "base/error.hpp"
#include "torch/train/checks.hpp"
#include "torch/train/network.hpp"
#include "torch/train/target_losses.hpp"

namespace mase::train {
namespace {

/// Keeps backward passes of this thread in this thread, which has the parts of its batch. Those on
/// a device would share one thread otherwise, in which a shard would wait for the next one for
/// ever.
class BackwardInThisThread {
 public:
  BackwardInThisThread() : before_(state().get_multithreading_enabled()) {
    state().set_multithreading_enabled(false);
  }
  ~BackwardInThisThread() { state().set_multithreading_enabled(before_); }
  BackwardInThisThread(const BackwardInThisThread&) = delete;
  BackwardInThisThread& operator=(const BackwardInThisThread&) = delete;

 private:
  static c10::AutogradState& state() { return c10::AutogradState::get_tls_state(); }
  bool before_;
};

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

  std::vector<at::Tensor> forward(const std::vector<c10::IValue>& inputs) override {
    return outputs_ = result_tensors(executor_.run_training(inputs));
  }

  void backward(const std::vector<at::Tensor>& gradients) override {
    std::vector<at::Tensor> there;
    for (const at::Tensor& gradient : gradients)
      there.push_back(gradient.defined() ? gradient.to(executor_.device()) : gradient);
    run_backward(there);
    outputs_.clear();
    for (const Parameters::Entry& entry : parameters_.entries()) take_gradient(entry);
    for (const Parameters::LearnedStep& step : parameters_.steps()) take_gradient(step.entry);
  }

 private:
  /// Several outputs are reduced to one number whose derivative by each is its gradient, so that
  /// their common layers are run through once.
  void run_backward(const std::vector<at::Tensor>& gradients) {
    std::vector<std::size_t> wanted;
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      if (gradients[i].defined() && outputs_[i].requires_grad()) wanted.push_back(i);
    if (wanted.empty()) config_error("the model's output depends on no trainable parameter");
    const BackwardInThisThread here;
    if (wanted.size() == 1) return outputs_[wanted.front()].backward(gradients[wanted.front()]);
    at::Tensor sum;
    for (const std::size_t i : wanted) {
      const at::Tensor part = at::mul(outputs_[i], gradients[i]).sum();
      sum = sum.defined() ? at::add(sum, part) : part;
    }
    sum.backward();
  }

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
  std::vector<at::Tensor> outputs_;
};

}  // namespace

std::unique_ptr<TrainableNetwork> make_autograd_network(libtorch::Executor& executor,
                                                        Parameters& parameters) {
  return std::make_unique<AutogradNetwork>(executor, parameters);
}

}  // namespace mase::train
