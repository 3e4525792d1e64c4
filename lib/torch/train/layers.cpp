// SPDX-License-Identifier: Apache-2.0
// Chooses a layer for a node and reads its arguments; the layers without parameters.
#include "torch/train/layers.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/add.h>
#include <ATen/ops/clamp_min.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/hardtanh.h>
#include <ATen/ops/hardtanh_backward.h>
#include <ATen/ops/max_pool2d_with_indices.h>
#include <ATen/ops/max_pool2d_with_indices_backward.h>
#include <ATen/ops/threshold_backward.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "torch/run/dropout.hpp"
#include "torch/train/lanes/tail_layer.hpp"

namespace mase::train {
namespace {

class Relu : public Layer {
 public:
  Layout layout() const override { return Layout::any; }
  at::Tensor forward(const at::Tensor& input) override {
    fit(output_, input.sizes());
    at::clamp_min_out(output_, input, 0);
    return output_;
  }
  at::Tensor backward(const at::Tensor& gradient, bool wanted) override {
    if (!wanted) return {};
    fit(gradient_, gradient.sizes());
    at::threshold_backward_out(gradient_, gradient, output_, 0);
    return gradient_;
  }

 private:
  at::Tensor output_, gradient_;
};

class Clamp : public Layer {
 public:
  explicit Clamp(ActivationBounds bounds) : bounds_(bounds) {}

  Layout layout() const override { return Layout::any; }
  at::Tensor forward(const at::Tensor& input) override {
    input_ = input;
    fit(output_, input.sizes());
    return at::hardtanh_out(output_, input, bounds_.low, bounds_.high);
  }
  at::Tensor backward(const at::Tensor& gradient, bool wanted) override {
    if (!wanted) return {};
    fit(gradient_, gradient.sizes());
    return at::hardtanh_backward_out(gradient_, gradient, input_, bounds_.low, bounds_.high);
  }

 private:
  ActivationBounds bounds_;
  at::Tensor input_, output_, gradient_;
};

class Reshape : public Layer {
 public:
  /// If `flat`, all dimensions after the first become one; otherwise uses the view's sizes.
  Reshape(bool flat, std::vector<std::int64_t> sizes) : flat_(flat), sizes_(std::move(sizes)) {}

  at::Tensor forward(const at::Tensor& input) override {
    before_ = input.sizes().vec();
    return flat_ ? input.flatten(1) : input.view(sizes_);
  }
  at::Tensor backward(const at::Tensor& gradient, bool wanted) override {
    return wanted ? gradient.reshape(before_) : at::Tensor();
  }

 private:
  bool flat_;
  std::vector<std::int64_t> sizes_, before_;
};

struct PoolSettings {
  std::vector<std::int64_t> kernel, stride, padding, dilation;
  bool ceil;

  static PoolSettings of(const LayerSource& source) {
    PoolSettings settings{source.integers("kernel_size", 1), source.integers("stride", 1),
                          source.integers("padding", 0), source.integers("dilation", 1),
                          source.flag("ceil_mode", false)};
    if (!source.constant("stride") || settings.stride.empty()) settings.stride = settings.kernel;
    return settings;
  }
};

class MaxPool2d : public Layer {
 public:
  explicit MaxPool2d(PoolSettings settings) : settings_(std::move(settings)) {}

  at::Tensor forward(const at::Tensor& input) override {
    input_ = input;
    at::Tensor output;
    std::tie(output, indices_) =
        at::max_pool2d_with_indices(input, settings_.kernel, settings_.stride, settings_.padding,
                                    settings_.dilation, settings_.ceil);
    return output;
  }
  at::Tensor backward(const at::Tensor& gradient, bool wanted) override {
    if (!wanted) return {};
    return at::max_pool2d_with_indices_backward(gradient, input_, settings_.kernel,
                                                settings_.stride, settings_.padding,
                                                settings_.dilation, settings_.ceil, indices_);
  }

 private:
  PoolSettings settings_;
  at::Tensor input_, indices_;
};

class Dropout : public Layer {
 public:
  explicit Dropout(double share) : share_(share) {}

  at::Tensor forward(const at::Tensor& input) override {
    noise_ = libtorch::dropout_factors(input, share_);
    return input * noise_;
  }
  at::Tensor backward(const at::Tensor& gradient, bool wanted) override {
    return wanted ? gradient * noise_ : at::Tensor();
  }

 private:
  double share_;
  at::Tensor noise_;
};

/// A sum of two operands, both of which get its gradient.
class Sum : public Layer {
 public:
  Layout layout() const override { return Layout::any; }
  void take_addend(const at::Tensor& addend) override { addend_ = addend; }
  at::Tensor addend_gradient() const override { return gradient_; }
  at::Tensor forward(const at::Tensor& input) override {
    fit(output_, input.sizes());
    at::add_out(output_, input, addend_);
    return output_;
  }
  at::Tensor backward(const at::Tensor& gradient, bool) override { return gradient_ = gradient; }

 private:
  at::Tensor addend_, output_, gradient_;
};

/// Applies the format of a value that flows into or out of a layer.
class Quantize : public Layer {
 public:
  explicit Quantize(PortQuantizer quantizer) : quantizer_(std::move(quantizer)) {}

  bool trains() const override { return quantizer_.learns(); }
  void begin_step(bool quantized) override { quantized_ = quantized; }
  at::Tensor forward(const at::Tensor& input) override {
    return quantized_ ? quantizer_.forward(input) : input;
  }
  at::Tensor backward(const at::Tensor& gradient, bool) override {
    return quantized_ ? quantizer_.backward(gradient) : gradient;
  }

 private:
  PortQuantizer quantizer_;
  bool quantized_ = false;
};

}  // namespace

const ir::Value* LayerSource::constant(std::string_view argument) const {
  return graph.argument(node, argument);
}

std::vector<std::int64_t> LayerSource::integers(std::string_view argument,
                                                std::int64_t fallback) const {
  const ir::Value* value = constant(argument);
  if (!value) return {fallback, fallback};
  if (value->kind() == ir::Value::Kind::integer) return {value->as_int(), value->as_int()};
  std::vector<std::int64_t> numbers;
  for (const ir::Value& item : value->items()) numbers.push_back(item.as_int());
  if (numbers.size() == 1) numbers.push_back(numbers[0]);
  return numbers;
}

bool LayerSource::flag(std::string_view argument, bool fallback) const {
  const ir::Value* value = constant(argument);
  return value ? value->as_bool() : fallback;
}

bool LayerSource::trains(std::string_view argument) const {
  const ir::Value* value = constant(argument);
  if (!value) return false;
  if (value->kind() == ir::Value::Kind::training) return true;
  return value->kind() == ir::Value::Kind::boolean && value->as_bool();
}

PortQuantizer LayerSource::quantizer(const std::string& port) const {
  const auto format = node.formats.find(port);
  if (format == node.formats.end()) return {};
  const Parameters::LearnedStep* step = parameters.find_step(node.id, port);
  const bool stored =
      node.kind == ir::NodeKind::call_module && graph.module_of(node).tensor(port) != nullptr;
  return PortQuantizer({&format->second, &rounding, libtorch::place_number(node.name, port),
                        stored ? libtorch::Rounded::parameter : libtorch::Rounded::data,
                        step ? step->entry.gradient : at::Tensor()});
}

void LayerTensor::begin_step(bool quantized) {
  used = quantized && quantizer.has_format() && value.defined() ? quantizer.forward(value) : value;
}

void LayerTensor::finish_gradient() {
  // `used` and `value` are different tensors exactly if it was quantized in this step.
  if (gradient.defined() && !used.is_same(value)) quantizer.backward_in_place(gradient);
}

LayerTensor layer_tensor(const LayerSource& source, std::string_view argument) {
  if (source.node.kind != ir::NodeKind::call_module) return {};
  const std::string* path = source.graph.module_of(source.node).tensor(argument);
  if (!path) return {};
  const Parameters::Entry* entry = source.parameters.find(*path);
  return {source.tensors.at(*path).detach(),
          entry ? entry->gradient : at::Tensor(),
          source.quantizer(std::string(argument)),
          {}};
}

bool is_square_pool(const LayerSource& source) {
  if (source.node.op != "aten::max_pool2d" || source.node.info.shape.size() != 4) return false;
  const PoolSettings settings = PoolSettings::of(source);
  const std::vector<std::int64_t> none{0, 0}, one{1, 1}, two{2, 2};
  return settings.kernel == two && settings.stride == two && settings.padding == none &&
         settings.dilation == one && !settings.ceil;
}

std::optional<ActivationBounds> activation_bounds(const LayerSource& source) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (source.node.op == "aten::relu") return {{0, infinity}};
  const ir::Value *low = source.constant("min_val"), *high = source.constant("max_val");
  const bool clamps = source.node.op == "aten::hardtanh" && low && high;
  if (!clamps || !std::isfinite(high->as_double())) return {};
  return {{low->as_double(), high->as_double()}};
}

bool is_sum(const ir::Graph& graph, const ir::Node& node) {
  if (node.op != "aten::add.Tensor") return false;
  const ir::Value* alpha = graph.argument(node, "alpha");
  if (alpha && !(*alpha == ir::Value(1))) return false;
  return std::ranges::all_of(std::array{"self", "other"}, [&](const char* name) {
    const ir::Value* operand = node.find(name);
    return operand && operand->is_node() && graph.node(operand->node()).info == node.info;
  });
}

bool is_global_mean(const LayerSource& source) {
  const std::vector<std::int64_t> one{1, 1}, places{2, 3}, last{-2, -1};
  if (source.node.op == "aten::adaptive_avg_pool2d")
    return source.node.info.shape.size() == 4 && source.integers("output_size", 0) == one;
  if (source.node.op != "aten::mean.dim") return false;
  const auto dims = source.integers("dim", 0);
  return (dims == places || dims == last) &&
         source.node.info.shape.size() == (source.flag("keepdim", false) ? 4 : 2);
}

bool is_training_batch_norm(const LayerSource& source) {
  const bool momentum = source.constant("momentum") && !source.constant("momentum")->is_none();
  return source.node.op == "aten::batch_norm" && source.trains("training") && momentum &&
         source.constant("eps");
}

std::unique_ptr<Layer> make_activation(const LayerSource& source) {
  const auto bounds = activation_bounds(source);
  if (!bounds) return nullptr;
  if (source.in_lanes) return make_lane_tail(source);
  if (std::isinf(bounds->high)) return std::make_unique<Relu>();
  return std::make_unique<Clamp>(*bounds);
}

std::unique_ptr<Layer> make_sum(const LayerSource& source) {
  if (source.in_lanes) return make_lane_tail(source);
  return std::make_unique<Sum>();
}

std::unique_ptr<Layer> make_max_pool2d(const LayerSource& source) {
  if (is_square_pool(source)) return make_lane_tail(source);
  return std::make_unique<MaxPool2d>(PoolSettings::of(source));
}

std::unique_ptr<Layer> make_dropout(const LayerSource& source) {
  const ir::Value* share = source.constant("p");
  if (!share || !source.trains("train")) return nullptr;
  const double p = share->as_double();
  // For p = 0 and 1 aten::dropout draws no random numbers.
  return p > 0 && p < 1 ? std::make_unique<Dropout>(p) : nullptr;
}

std::unique_ptr<Layer> make_quantize(PortQuantizer quantizer) {
  return std::make_unique<Quantize>(std::move(quantizer));
}

std::unique_ptr<Layer> make_reshape(const LayerSource& source) {
  if (source.node.op == "aten::flatten.using_ints") {
    const ir::Value* start = source.constant("start_dim");
    const ir::Value* end = source.constant("end_dim");
    const bool flat = start && start->as_int() == 1 && (!end || end->as_int() == -1);
    return flat ? std::make_unique<Reshape>(true, std::vector<std::int64_t>()) : nullptr;
  }
  const ir::Value* wanted = source.constant("size");
  if (!wanted) return nullptr;
  std::vector<std::int64_t> sizes;
  for (const ir::Value& size : wanted->items()) {
    if (size.kind() != ir::Value::Kind::integer) return nullptr;
    sizes.push_back(size.as_int());
  }
  return std::make_unique<Reshape>(false, sizes);
}

std::unique_ptr<Layer> make_layer(const LayerSource& source) {
  const std::string& op = source.node.op;
  if (op == "aten::linear") return make_linear(source);
  if (op == "aten::batch_norm") return make_batch_norm(source);
  if (op == "aten::relu" || op == "aten::hardtanh") return make_activation(source);
  if (op == "aten::conv2d") return make_lane_conv2d(source);
  if (op == "aten::max_pool2d") return make_max_pool2d(source);
  if (op == "aten::dropout") return make_dropout(source);
  if (is_sum(source.graph, source.node)) return make_sum(source);
  if (is_global_mean(source)) return make_lane_mean(source);
  if (op == "aten::flatten.using_ints" || op == "aten::view") return make_reshape(source);
  return nullptr;
}

void fit(at::Tensor& tensor, at::IntArrayRef shape) {
  if (!tensor.defined() || tensor.sizes() != shape) tensor = at::empty(shape, at::kFloat);
}

}  // namespace mase::train
