// SPDX-License-Identifier: Apache-2.0
// Builds the parts of a model in training and keeps them in step.
#include "torch/train/trained_model.hpp"

#include "torch/train/checks.hpp"
#include "torch/train/schedule.hpp"

namespace mase::train {
namespace {

libtorch::Executor make_executor(const ir::Graph& graph, c10::Device device) {
  libtorch::Executor executor(graph, ir::Level::quantized, device);
  executor.own_tensors();
  return executor;
}

}  // namespace

TrainedModel::TrainedModel(ir::Graph& graph, const backend::TrainOptions& options,
                           std::int64_t steps, c10::Device device)
    : graph_(graph),
      options_(options),
      executor_(make_executor(graph, device)),
      folded_(options.fold_batch_norm ? executor_.fold_batch_norms() : 0),
      parameters_(graph, executor_.tensors(),
                  options.learn_scales ? learnable_ports(graph) : std::vector<PortName>()),
      learned_steps_(graph, executor_, parameters_),
      network_(folded_ > 0 || !device.is_cpu() ? nullptr
                                               : make_layer_network(executor_, parameters_)),
      average_(options.ema_decay, parameters_.values()) {
  check_quantization(graph, options, steps, parameters_.steps().size(), folded_);
  if (!network_) network_ = make_autograd_network(executor_, parameters_);
  executor_.rounding().seed = static_cast<std::uint64_t>(options.seed);
  executor_.rounding().gradient = gradient_format(graph, options);
  if (options.round_weights) rounded_weights_.emplace(graph, executor_, parameters_);
}

void TrainedModel::begin_step(std::int64_t step) {
  if (rounded_weights_ && step == options_.quantize_after_steps) rounded_weights_->round(step - 1);
  executor_.rounding().step = step;
  network_->begin_step(is_quantized(step, options_));
}

void TrainedModel::finish_step(std::int64_t step) {
  learned_steps_.follow();
  average_.update(parameters_.values(), step);
  if (rounded_weights_ && is_quantized(step, options_)) rounded_weights_->round(step);
}

void TrainedModel::swap_average() {
  if (average_.empty()) return;
  average_.swap(parameters_.values());
  learned_steps_.follow();
}

void TrainedModel::store_folded(ir::Graph& graph) const {
  if (folded_ > 0) executor_.store_folded(graph);
}

ir::Graph TrainedModel::deployed_graph() {
  ir::Graph deployed = graph_;
  swap_average();
  if (!average_.empty()) executor_.store_tensors(deployed);
  store_folded(deployed);
  swap_average();
  return deployed;
}

}  // namespace mase::train
