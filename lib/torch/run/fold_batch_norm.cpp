// SPDX-License-Identifier: Apache-2.0
// Finds the batch norms that a plan folds, runs the folded layers, and stores them.
#include "torch/run/fold_batch_norm.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/var_mean.h>
#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.hpp"
#include "ir/metadata.hpp"
#include "ir/op_table.hpp"
#include "ir/tensor_readers.hpp"
#include "torch/run/plan.hpp"
#include "torch/run/quantize_op.hpp"
#include "torch/run/shared_norm.hpp"
#include "torch/run/tensors.hpp"

namespace mase::libtorch {
namespace {

/// Positions of arguments in the schemas of aten::batch_norm, linear and convolutions.
enum NormArgument {
  norm_weight = 1,
  norm_bias,
  norm_mean,
  norm_variance,
  norm_momentum = 6,
  norm_epsilon
};
enum LayerArgument { layer_input, layer_weight, layer_bias };

/// The modules that are called once and share no tensors with others.
std::set<std::string> modules_by_themselves(const ir::Graph& graph) {
  std::map<std::string, int> calls;
  const std::map<std::string, int> tensor_uses = ir::tensor_uses(graph);
  for (const ir::NodeId id : graph.order())
    if (const ir::Node& node = graph.node(id); node.kind == ir::NodeKind::call_module)
      ++calls[node.target];
  std::set<std::string> found;
  for (const auto& [path, count] : calls) {
    const auto& tensors = graph.modules.at(path).tensors;
    const bool own = std::ranges::all_of(
        tensors, [&](const auto& tensor) { return tensor_uses.at(tensor.second) == 1; });
    if (count == 1 && own) found.insert(path);
  }
  return found;
}

/// Whether the layer can be folded. Rows of features, [N, T, F], are normalised along T and cannot.
bool is_foldable_layer(const ir::Graph& graph, const ir::Node& node) {
  const ir::OpFamily family = ir::classify(graph, node).family();
  if (family == ir::OpFamily::linear) return node.info.shape.size() == 2;
  return family == ir::OpFamily::convolution;
}

bool is_foldable_norm(const ir::Graph& graph, const ir::Node& node) {
  return ir::classify(graph, node).family() == ir::OpFamily::batch_norm &&
         node.kind == ir::NodeKind::call_module &&
         graph.module_of(node).tensor("running_mean") != nullptr;
}

void set_tensor(ir::Graph& graph, ir::Module& module, const std::string& argument,
                const at::Tensor& value) {
  const std::string* known = module.tensor(argument);
  const std::string path = known ? *known : module.path + "." + argument;
  if (!known) module.tensors.emplace_back(argument, path);
  graph.set_tensor(path, {to_array(value.contiguous(), path), true, true});
}

at::Tensor or_nothing(const c10::IValue& value) {
  return value.isTensor() ? value.toTensor() : at::Tensor();
}

/// Reshapes [channels] to the dimensions of a layer's weight, of which the first is the output.
at::Tensor along_outputs(const at::Tensor& values, const at::Tensor& weight) {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(weight.dim()), 1);
  shape[0] = -1;
  return values.view(shape);
}

/// running = (1 - momentum) running + momentum now.
void blend(const at::Tensor& running, const at::Tensor& now, double momentum) {
  running.mul_(1.0 - momentum).add_(now, momentum);
}

/// The moments of each channel, over all parts of the batch.
SharedMoments moments_of(const at::Tensor& values) {
  if (BatchParts* const parts = batch_parts_in_use()) return shared_moments(values, *parts);
  std::vector<std::int64_t> dimensions;
  for (std::int64_t d = 0; d < values.dim(); ++d)
    if (d != 1) dimensions.push_back(d);
  const auto [variance, mean] = at::var_mean(values, at::OptionalIntArrayRef(dimensions), false);
  return {variance, mean,
          static_cast<double>(values.numel()) / static_cast<double>(values.size(1))};
}

}  // namespace

FoldedLayer fold(const at::Tensor& layer_weight, const NormTensors& norm) {
  at::Tensor factor = at::rsqrt(norm.variance + norm.epsilon);
  if (norm.weight.defined()) factor = factor * norm.weight;
  const at::Tensor shift = norm.mean * factor;
  return {layer_weight * along_outputs(factor, layer_weight),
          norm.bias.defined() ? norm.bias - shift : -shift};
}

void count_batch(const at::Tensor& batches) {
  if (batches.is_cpu())
    ++*batches.data_ptr<std::int64_t>();
  else
    batches.add_(1);
}

bool has_fixed_statistics(const ir::Graph& graph, const ir::Node& norm) {
  const ir::Value* training = graph.argument(norm, "training");
  return training != nullptr && training->kind() == ir::Value::Kind::boolean &&
         !training->as_bool();
}

int Executor::Plan::fold_batch_norms() {
  const std::set<std::string> alone = modules_by_themselves(graph);
  std::map<ir::NodeId, PlanStep*> layers;
  int folded = 0;
  for (PlanStep& step : steps) {
    const ir::Node& node = *step.node;
    const bool by_itself = node.kind == ir::NodeKind::call_module && alone.contains(node.target);
    if (!by_itself) continue;
    if (is_foldable_layer(graph, node)) layers[node.id] = &step;
    if (!is_foldable_norm(graph, node)) continue;
    const ir::NodeId before = graph.inputs(node.id).front();
    const auto layer = layers.find(before);
    if (layer == layers.end() || graph.users(before).size() != 1) continue;
    if (!node.formats.empty())
      config_error("fold_batch_norm: node '" + node.name +
                   "' has formats of its own; do not give formats to a batch norm that is folded"
                   " into a layer");
    layer->second->norm = &step;
    step.kind = PlanStep::Kind::identity;
    ++folded;
  }
  return folded;
}

NormTensors Executor::Plan::norm_of(PlanStep& norm) {
  const auto argument = [&](int index) {
    return fetch(norm.arguments[static_cast<std::size_t>(index)]);
  };
  return {or_nothing(argument(norm_weight)), or_nothing(argument(norm_bias)),
          argument(norm_mean).toTensor(), argument(norm_variance).toTensor(),
          argument(norm_epsilon).toDouble()};
}

at::Tensor Executor::Plan::call_layer(PlanStep& layer, const at::Tensor& input,
                                      const FoldedLayer& tensors) {
  stack_.clear();
  stack_.emplace_back(input);
  stack_.emplace_back(tensors.weight);
  stack_.push_back(tensors.bias.defined() ? c10::IValue(tensors.bias) : c10::IValue());
  for (std::size_t i = layer_bias + 1; i < layer.arguments.size(); ++i)
    stack_.push_back(fetch(layer.arguments[i]));
  layer.aten->callBoxed(&stack_);
  return std::move(stack_.back()).toTensor();
}

/// Uses the statistics of this batch and updates the running ones. The layer's bias only shifts the
/// mean, so it cancels in the output.
void Executor::Plan::use_batch_statistics(PlanStep& layer, const at::Tensor& input,
                                          const at::Tensor& bias, NormTensors& norm) {
  const at::Tensor raw =
      call_layer(layer, input, {fetch(layer.arguments[layer_weight]).toTensor(), {}});
  const auto [variance, mean, count] = moments_of(raw);
  const double momentum = fetch(layer.norm->arguments[norm_momentum]).toDouble();
  {
    const at::NoGradGuard no_gradient;
    blend(norm.mean, bias.defined() ? mean + bias : mean, momentum);
    blend(norm.variance, variance * (count / (count - 1.0)), momentum);
  }
  if (layer.norm->batches) count_batch(*layer.norm->batches);
  norm.mean = mean;
  norm.variance = variance;
}

FoldedLayer Executor::Plan::folded_in_eval(PlanStep& layer) {
  NormTensors norm = norm_of(*layer.norm);
  const at::Tensor bias = or_nothing(fetch(layer.arguments[layer_bias]));
  if (bias.defined()) norm.mean = norm.mean - bias;
  return fold(fetch(layer.arguments[layer_weight]).toTensor(), norm);
}

c10::IValue Executor::Plan::call_folded(PlanStep& layer) {
  const at::Tensor input = evaluate(layer.arguments[layer_input]).toTensor();
  FoldedLayer tensors;
  if (training_) {
    NormTensors norm = norm_of(*layer.norm);
    use_batch_statistics(layer, input, or_nothing(fetch(layer.arguments[layer_bias])), norm);
    tensors = fold(fetch(layer.arguments[layer_weight]).toTensor(), norm);
  } else {
    tensors = folded_in_eval(layer);
  }
  const auto quantized_by = [&](const at::Tensor& tensor, const Recipe& recipe) {
    return quantizes(recipe) ? rounded(tensor, recipe, Rounded::parameter) : tensor;
  };
  tensors.weight = quantized_by(tensors.weight, layer.arguments[layer_weight]);
  tensors.bias = quantized_by(tensors.bias, layer.arguments[layer_bias]);
  return call_layer(layer, input, tensors);
}

void Executor::Plan::store_folded(ir::Graph& target) {
  training_ = false;
  for (PlanStep& step : steps) {
    if (!step.norm) continue;
    const FoldedLayer tensors = folded_in_eval(step);
    ir::Node& node = target.node(step.node->id);
    ir::Module& module = target.modules.at(node.target);
    set_tensor(target, module, "weight", tensors.weight);
    set_tensor(target, module, "bias", tensors.bias);
    target.replace_uses(step.norm->node->id, node.id);
    target.erase(step.norm->node->id);
    if (node.meta.common.size() > 0) node.meta.common = ir::common_metadata(target, node);
  }
  ir::remove_unused_tensors(target);
}

int Executor::fold_batch_norms() { return plan_->fold_batch_norms(); }

void Executor::store_folded(ir::Graph& graph) const {
  c10::InferenceMode guard;
  plan_->store_folded(graph);
}

}  // namespace mase::libtorch
