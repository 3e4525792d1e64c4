// SPDX-License-Identifier: Apache-2.0
// Layers of torch.nn and their tensors.
#include <numeric>

#include "huggingface/builder.hpp"

namespace mase::huggingface {
namespace {

using ir::Value;

ir::Module module_of(const std::string& path, const std::string& class_name,
                     const std::string& op) {
  return {path, "torch.nn.modules." + class_name, op, {}, {}};
}

Value pair(const std::pair<std::int64_t, std::int64_t>& sides) {
  return Value::list({Value(sides.first), Value(sides.second)});
}

}  // namespace

Array numbered(std::int64_t count) {
  return Array::deferred(DType::int64, {1, count}, [count] {
    Array numbers(DType::int64, {1, count});
    const auto values = numbers.mutable_span<std::int64_t>();
    std::iota(values.begin(), values.end(), 0);
    return numbers;
  });
}

Array zeros(const Shape& shape) {
  return Array::deferred(DType::int64, shape, [shape] { return Array(DType::int64, shape); });
}

void Builder::add_tensor(const std::string& path, Array value, bool is_parameter) {
  if (graph_.tensors.contains(path)) return;
  ir::Tensor tensor;
  tensor.value = std::move(value);
  tensor.is_parameter = tensor.requires_grad = is_parameter;
  graph_.set_tensor(path, std::move(tensor));
}

Ref Builder::tensor(const std::string& path, const Shape& shape) {
  add_tensor(path, weights_.take(path, shape), true);
  return call(ir::NodeKind::get_attr, path, "", {});
}

void Builder::buffer(const std::string& path, Array value) {
  weights_.skip(path);
  add_tensor(path, std::move(value), false);
}

Ref Builder::constant(const std::string& path, Array value) {
  buffer(path, std::move(value));
  return call(ir::NodeKind::get_attr, path, "", {});
}

Ref Builder::literal(Array value) {
  return constant("_tensor_constant" + std::to_string(literals_++), std::move(value));
}

void Builder::tie(const std::string& path, const std::string& other) {
  weights_.skip(other);
  graph_.tensors.at(path).other_names.push_back(other);
}

void Builder::add_argument(ir::Module& module, const std::string& argument, const Shape& shape,
                           bool is_parameter) {
  const std::string path = module.path + "." + argument;
  add_tensor(path, weights_.take(path, shape), is_parameter);
  module.tensors.emplace_back(argument, path);
}

Ref Builder::add_layer(ir::Module module, const std::string& input, const Ref& x) {
  ir::Node node;
  node.kind = ir::NodeKind::call_module;
  node.target = module.path;
  node.op = module.op;
  node.args = {{input, x}};
  graph_.modules[module.path] = std::move(module);
  return add_node(std::move(node));
}

Ref Builder::layer(const std::string& path, const std::string& class_name, const std::string& op,
                   const Ref& x, Arguments attributes, const std::string& input) {
  ir::Module module = module_of(path, class_name, op);
  module.attributes = std::move(attributes);
  return add_layer(std::move(module), input, x);
}

Ref Builder::linear(const std::string& path, const Ref& x, std::int64_t inputs,
                    std::int64_t outputs, bool bias) {
  ir::Module module = module_of(path, "linear.Linear", "aten::linear");
  add_argument(module, "weight", {outputs, inputs});
  if (bias) add_argument(module, "bias", {outputs});
  return add_layer(std::move(module), "input", x);
}

Ref Builder::tied_linear(const std::string& path, const Ref& x, const std::string& words,
                         const std::string& bias) {
  if (!config_.truth("tie_word_embeddings", true)) {
    if (!bias.empty()) weights_.skip(bias);  // the layer has its own, and nothing reads this one
    const std::int64_t width = graph_.tensors.at(words).value.shape().back();
    return linear(path, x, width, config_.size("vocab_size"), !bias.empty());
  }
  tie(words, path + ".weight");
  ir::Module module = module_of(path, "linear.Linear", "aten::linear");
  module.tensors.emplace_back("weight", words);
  if (!bias.empty()) {
    add_tensor(bias, weights_.take(bias, {config_.size("vocab_size")}), true);
    if (bias != path + ".bias") tie(bias, path + ".bias");
    module.tensors.emplace_back("bias", bias);
  }
  return add_layer(std::move(module), "input", x);
}

Ref Builder::word_scores(const Ref& x, const std::string& words, std::int64_t width,
                         bool usually_tied) {
  const Ref each = item(x, {all(), all(), all()});
  if (config_.truth("tie_word_embeddings", usually_tied))
    return tied_linear("lm_head", each, words);
  return linear("lm_head", each, width, config_.size("vocab_size"), false);
}

Ref Builder::embedding(const std::string& path, const Ref& x, std::int64_t rows, std::int64_t width,
                       std::int64_t padding) {
  ir::Module module = module_of(path, "sparse.Embedding", "aten::embedding");
  add_argument(module, "weight", {rows, width});
  module.attributes = {{"padding_idx", padding}, {"scale_grad_by_freq", false}, {"sparse", false}};
  return add_layer(std::move(module), "indices", x);
}

Ref Builder::layer_norm(const std::string& path, const Ref& x, std::int64_t width, double eps) {
  ir::Module module = module_of(path, "normalization.LayerNorm", "aten::layer_norm");
  add_argument(module, "weight", {width});
  add_argument(module, "bias", {width});
  module.attributes = {
      {"normalized_shape", Value::list({Value(width)})}, {"eps", eps}, {"cudnn_enable", true}};
  return add_layer(std::move(module), "input", x);
}

Ref Builder::dropout(const std::string& path, const Ref& x, double rate) {
  return layer(path, "dropout.Dropout", "aten::dropout", x,
               {{"p", rate}, {"train", ir::TrainingFlag{}}}, "input");
}

Ref Builder::convolution(const std::string& path, const Ref& x, const Convolution& sizes) {
  ir::Module module = module_of(path, "conv.Conv2d", "aten::conv2d");
  add_argument(module, "weight",
               {sizes.outputs, sizes.inputs, sizes.kernel.first, sizes.kernel.second});
  if (sizes.bias) add_argument(module, "bias", {sizes.outputs});
  module.attributes = {{"stride", pair(sizes.stride)},
                       {"padding", pair(sizes.padding)},
                       {"dilation", pair({1, 1})},
                       {"groups", 1}};
  return add_layer(std::move(module), "input", x);
}

Ref Builder::batch_norm(const std::string& path, const Ref& x, std::int64_t channels) {
  ir::Module module = module_of(path, "batchnorm.BatchNorm2d", "aten::batch_norm");
  for (const char* argument : {"weight", "bias"}) add_argument(module, argument, {channels});
  for (const char* argument : {"running_mean", "running_var"})
    add_argument(module, argument, {channels}, false);
  const std::string counter = path + ".num_batches_tracked";
  add_tensor(counter,
             weights_.has(counter) ? weights_.take(counter, {}, DType::int64)
                                   : Array(DType::int64, Shape{}),
             false);
  module.attributes = {
      {"training", ir::TrainingFlag{}}, {"momentum", 0.1}, {"eps", 1e-5}, {"cudnn_enabled", true}};
  return add_layer(std::move(module), "input", x);
}

}  // namespace mase::huggingface
