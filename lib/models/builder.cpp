// SPDX-License-Identifier: Apache-2.0
// Layers, shapes and initial weights.
#include "models/builder.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/random.hpp"
#include "ir/initial_weights.hpp"

namespace mase::models {
namespace {

/// The number of rows in the shapes noted on the nodes; a graph runs with any number.
constexpr std::int64_t noted_rows = 1;

using ir::Value;

Value pair(std::int64_t value) { return Value::list({Value(value), Value(value)}); }

ir::Module make_module(const std::string& path, const std::string& class_name,
                       const std::string& op) {
  ir::Module module;
  module.path = path;
  module.class_name = "torch.nn.modules." + class_name;
  module.op = op;
  return module;
}

/// A norm over the last dimension.
ir::Module make_norm(const std::string& path, const std::string& short_class, const std::string& op,
                     std::int64_t width, double eps) {
  ir::Module module = make_module(path, "normalization." + short_class, op);
  module.attributes = {{"normalized_shape", Value::list({Value(width)})}, {"eps", Value(eps)}};
  return module;
}

/// The initial values of torch.nn.Embedding.
Array standard_normal(const Shape& shape, std::uint64_t seed, std::uint64_t stream) {
  Random random(seed, stream);
  Array values(DType::float32, shape);
  for (float& value : values.mutable_span<float>()) value = static_cast<float>(random.normal());
  return values;
}

Array filled(const Shape& shape, float value) {
  Array array(DType::float32, shape);
  std::ranges::fill(array.mutable_span<float>(), value);
  return array;
}

std::vector<ir::Argument> pool_attributes(std::int64_t kernel) {
  return {{"kernel_size", pair(kernel)},
          {"stride", pair(kernel)},
          {"padding", pair(0)},
          {"dilation", pair(1)},
          {"ceil_mode", Value(false)}};
}

}  // namespace

Builder::Builder(const std::string& name, const std::string& root_class, const Shape& sample_shape,
                 std::uint64_t seed, DType input)
    : sample_shape_(sample_shape), shape_(sample_shape), seed_(seed) {
  graph_.name = name;
  graph_.containers[""] = "mase_models." + root_class;
  const bool positive = std::ranges::all_of(shape_, [](std::int64_t size) { return size > 0; });
  if (shape_.empty() || !positive) impossible("every dimension of a row must be at least 1");
  ir::Node node;
  node.kind = ir::NodeKind::placeholder;
  node.name = node.target = "x";
  node.info = info();
  node.info.dtype = input;
  last_ = graph_.add(std::move(node));
}

void Builder::container(const std::string& path, const std::string& short_class) {
  graph_.containers[path] = "torch.nn.modules.container." + short_class;
}

void Builder::linear(const std::string& path, std::int64_t outputs) {
  if (shape_.size() != 1) impossible("a linear layer needs rows of one dimension");
  add_linear(path, outputs, true);
}

void Builder::token_linear(const std::string& path, std::int64_t outputs, bool bias) {
  if (shape_.size() != 2) impossible("layer " + path + " needs rows of [tokens, inputs]");
  add_linear(path, outputs, bias);
}

void Builder::add_linear(const std::string& path, std::int64_t outputs, bool bias) {
  if (outputs < 1) impossible("layer " + path + " needs at least one output");
  ir::Module module = make_module(path, "linear.Linear", "aten::linear");
  const std::int64_t inputs = shape_.back();
  add_parameter(module, "weight", {outputs, inputs}, inputs);
  if (bias) add_parameter(module, "bias", {outputs}, inputs);
  shape_.back() = outputs;
  add_layer(std::move(module), "input");
}

void Builder::conv2d(const std::string& path, std::int64_t channels, std::int64_t kernel,
                     std::int64_t padding, bool bias, std::int64_t stride) {
  if (shape_.size() != 3) impossible("a convolution needs rows of [channels, height, width]");
  ir::Module module = make_module(path, "conv.Conv2d", "aten::conv2d");
  const std::int64_t fan_in = shape_[0] * kernel * kernel;
  add_parameter(module, "weight", {channels, shape_[0], kernel, kernel}, fan_in);
  if (bias) add_parameter(module, "bias", {channels}, fan_in);
  module.attributes = {{"stride", pair(stride)},
                       {"padding", pair(padding)},
                       {"dilation", pair(1)},
                       {"groups", Value(1)}};
  const auto windows = [&](std::int64_t size) {
    return size + 2 * padding < kernel ? 0 : (size + 2 * padding - kernel) / stride + 1;
  };
  shape_ = {channels, windows(shape_[1]), windows(shape_[2])};
  if (shape_[1] < 1 || shape_[2] < 1) impossible("images are too small for layer " + path);
  add_layer(std::move(module), "input");
}

void Builder::batch_norm(const std::string& path, double momentum) {
  const std::string kind = shape_.size() == 3 ? "BatchNorm2d" : "BatchNorm1d";
  ir::Module module = make_module(path, "batchnorm." + kind, "aten::batch_norm");
  add_constant(module, "weight", 1.0f, true);
  add_constant(module, "bias", 0.0f, true);
  add_constant(module, "running_mean", 0.0f, false);
  add_constant(module, "running_var", 1.0f, false);
  graph_.set_tensor(path + ".num_batches_tracked", {Array(DType::int64, Shape{}), false, false});
  module.attributes = {{"training", Value(ir::TrainingFlag{})},
                       {"momentum", Value(momentum)},
                       {"eps", Value(1e-5)},
                       {"cudnn_enabled", Value(true)}};
  add_layer(std::move(module), "input");
}

void Builder::embedding(const std::string& path, std::int64_t rows, std::int64_t width) {
  if (shape_.size() != 1) impossible("layer " + path + " needs rows of [tokens]");
  ir::Module module = make_module(path, "sparse.Embedding", "aten::embedding");
  const std::string table = path + ".weight";
  module.tensors.emplace_back("weight", table);
  graph_.set_tensor(
      table, {standard_normal({rows, width}, seed_, graph_.tensor_order.size()), true, true});
  module.attributes = {
      {"padding_idx", Value(-1)}, {"scale_grad_by_freq", Value(false)}, {"sparse", Value(false)}};
  shape_.push_back(width);
  add_layer(std::move(module), "indices");
}

void Builder::layer_norm(const std::string& path, double eps) {
  ir::Module module = make_norm(path, "LayerNorm", "aten::layer_norm", shape_.back(), eps);
  add_constant(module, "weight", 1.0f, true);
  add_constant(module, "bias", 0.0f, true);
  module.attributes.emplace_back("cudnn_enable", Value(true));
  add_layer(std::move(module), "input");
}

void Builder::rms_norm(const std::string& path) {
  ir::Module module = make_norm(path, "RMSNorm", "aten::rms_norm", shape_.back(), 1e-5);
  add_constant(module, "weight", 1.0f, true);
  add_layer(std::move(module), "input");
}

void Builder::gelu(const std::string& path) {
  ir::Module module = make_module(path, "activation.GELU", "aten::gelu");
  module.attributes = {{"approximate", Value(std::string("none"))}};
  add_layer(std::move(module), "self");
}

void Builder::silu(const std::string& path) {
  add_layer(make_module(path, "activation.SiLU", "aten::silu"), "self");
}

void Builder::tanh(const std::string& path) {
  add_layer(make_module(path, "activation.Tanh", "aten::tanh"), "self");
}

void Builder::relu(const std::string& path) {
  add_layer(make_module(path, "activation.ReLU", "aten::relu"), "self");
}

void Builder::softmax(const std::string& path) {
  ir::Module module = make_module(path, "activation.Softmax", "aten::softmax.int");
  module.attributes = {{"dim", Value(1)}, {"dtype", Value()}};
  add_layer(std::move(module), "self");
}

void Builder::max_pool2d(const std::string& path, std::int64_t kernel) {
  ir::Module module = make_module(path, "pooling.MaxPool2d", "aten::max_pool2d");
  module.attributes = pool_attributes(kernel);
  pool_shape(kernel);
  add_layer(std::move(module), "self");
}

ir::Graph Builder::finish() {
  ir::Node node;
  node.kind = ir::NodeKind::output;
  node.name = node.target = "output";
  node.args = {{"value", Value(ir::NodeRef{last_})}};
  node.info = info();
  graph_.add(std::move(node));
  return std::move(graph_);
}

void Builder::add_parameter(ir::Module& module, const std::string& argument, const Shape& shape,
                            std::int64_t fan_in) {
  Array values = ir::initial_weights(shape, fan_in, seed_, graph_.tensor_order.size());
  const std::string path = module.path + "." + argument;
  module.tensors.emplace_back(argument, path);
  graph_.set_tensor(path, {std::move(values), true, true});
}

void Builder::add_constant(ir::Module& module, const std::string& argument, float value,
                           bool parameter) {
  const std::string path = module.path + "." + argument;
  module.tensors.emplace_back(argument, path);
  // A batch norm has its channels first, other norms have them last.
  const std::int64_t size = module.op == "aten::batch_norm" ? shape_[0] : shape_.back();
  graph_.set_tensor(path, {filled({size}, value), parameter, parameter});
}

void Builder::add_layer(ir::Module module, const std::string& data_argument) {
  ir::Node node;
  node.kind = ir::NodeKind::call_module;
  node.name = ir::node_name_of(module.path);
  node.target = module.path;
  node.op = module.op;
  node.args = {{data_argument, Value(ir::NodeRef{last_})}};
  node.info = info();
  graph_.modules[module.path] = std::move(module);
  last_ = graph_.add(std::move(node));
}

void Builder::pool_shape(std::int64_t kernel) {
  if (shape_.size() != 3) impossible("pooling needs rows of [channels, height, width]");
  shape_ = {shape_[0], shape_[1] / kernel, shape_[2] / kernel};
  if (shape_[1] < 1 || shape_[2] < 1) impossible("images are too small for its pooling layers");
}

void Builder::impossible(const std::string& reason) const {
  config_error("model " + graph_.name + " cannot take rows of shape " + shape_text(sample_shape_) +
               ": " + reason);
}

ir::ValueInfo Builder::info(std::size_t batch) const {
  Shape shape = shape_;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(batch), noted_rows);
  return ir::ValueInfo::tensor(DType::float32, shape);
}

}  // namespace mase::models
