// SPDX-License-Identifier: Apache-2.0
// Layers with hand-written backward steps: what autograd would call, without its bookkeeping.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "ir/graph.hpp"
#include "torch/train/parameters.hpp"
#include "torch/train/port_quantizer.hpp"

namespace mase::train {

struct LaneBatch;
struct LayerSource;

/// How a layer's tensors lie: rows, as LibTorch has them; lanes, bundles of images
/// (lanes/layers.hpp); or any, element by element.
enum class Layout : std::uint8_t { rows, lanes, any };

/// One node, or several in a row. `forward` keeps what `backward` needs until the next forward.
class Layer {
 public:
  virtual ~Layer() = default;
  virtual at::Tensor forward(const at::Tensor& input) = 0;
  /// From d loss / d output: overwrites the gradients of the layer's parameters and returns
  /// d loss / d input (undefined when `wanted` is false).
  virtual at::Tensor backward(const at::Tensor& gradient, bool wanted) = 0;
  /// Whether it has a gradient to write: layers before the first such one need no backward.
  virtual bool trains() const { return false; }
  /// Once per step, after the parameters changed: `quantized` says whether formats count in it.
  virtual void begin_step(bool quantized) { static_cast<void>(quantized); }
  virtual Layout layout() const { return Layout::rows; }
  /// Takes over the node that follows, when it can.
  virtual bool absorb(const LayerSource&) { return false; }
  /// Before `forward`, of a layer that is or has absorbed a sum: its other operand.
  virtual void take_addend(const at::Tensor&) {}
  /// After `backward`: d loss / d addend.
  virtual at::Tensor addend_gradient() const { return {}; }
};

/// Where a layer finds its tensors and constants.
struct LayerSource {
  const ir::Graph& graph;
  const ir::Node& node;
  std::map<std::string, at::Tensor>& tensors;
  const Parameters& parameters;
  const libtorch::TrainingRounding& rounding;
  std::shared_ptr<LaneBatch> batch;  ///< of all layers of the network
  bool in_lanes = false;             ///< how the layer before writes

  /// The constant of this argument, from the node or its module; nullptr when it is the default.
  const ir::Value* constant(std::string_view argument) const;
  std::vector<std::int64_t> integers(std::string_view argument, std::int64_t fallback) const;
  bool flag(std::string_view argument, bool fallback) const;
  bool trains(std::string_view argument) const;  ///< $training or true
  PortQuantizer quantizer(const std::string& port) const;
};

/// A tensor argument of a layer and where its gradient goes (undefined when frozen).
struct LayerTensor {
  at::Tensor value, gradient;
  PortQuantizer quantizer;
  at::Tensor used{};  ///< what the layer computes with in this step: the value, or it quantized

  void begin_step(bool quantized);
  /// Turns the gradient of `used`, which the layer has written to `gradient`, into the value's.
  void finish_gradient();
};
/// Undefined when the module has no such tensor.
LayerTensor layer_tensor(const LayerSource& source, std::string_view argument);

/// Whether it is max pooling over squares of 2 x 2 side by side.
bool is_square_pool(const LayerSource& source);

/// Of ReLU (0 .. infinity) and clamps such as ReLU6; nothing for other operators.
struct ActivationBounds {
  double low = 0, high = 0;
};
std::optional<ActivationBounds> activation_bounds(const LayerSource& source);

/// Whether it is a sum of two tensors of the result's shape.
bool is_sum(const ir::Graph& graph, const ir::Node& node);

/// Whether it is a mean over all places of images.
bool is_global_mean(const LayerSource& source);

/// Whether it is a batch norm that uses and tracks the batch's statistics.
bool is_training_batch_norm(const LayerSource& source);

/// Null for an operator or a use of it that is not written here.
std::unique_ptr<Layer> make_layer(const LayerSource& source);

std::unique_ptr<Layer> make_linear(const LayerSource& source);
std::unique_ptr<Layer> make_batch_norm(const LayerSource& source);
std::unique_ptr<Layer> make_max_pool2d(const LayerSource& source);
std::unique_ptr<Layer> make_dropout(const LayerSource& source);
std::unique_ptr<Layer> make_activation(const LayerSource& source);
std::unique_ptr<Layer> make_sum(const LayerSource& source);
std::unique_ptr<Layer> make_reshape(const LayerSource& source);  ///< flatten, view
std::unique_ptr<Layer> make_quantize(PortQuantizer quantizer);   ///< of a data port

/// `tensor` when it has this shape already, else a new one: buffers are reused from batch to batch.
void fit(at::Tensor& tensor, at::IntArrayRef shape);

}  // namespace mase::train
