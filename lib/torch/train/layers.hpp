// SPDX-License-Identifier: Apache-2.0
// Layers with hand-written backward steps, which do without the bookkeeping of autograd.
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

/// The layout of a layer's tensors: rows, as in LibTorch; lanes, which are bundles of images
/// (lanes/layers.hpp); or any, for layers that work element by element.
enum class Layout : std::uint8_t { rows, lanes, any };

/// A layer for one node, or several in sequence. `forward` keeps what the next `backward` needs.
class Layer {
 public:
  virtual ~Layer() = default;
  virtual at::Tensor forward(const at::Tensor& input) = 0;
  /// Takes d loss / d output, overwrites the gradients of the layer's parameters and returns
  /// d loss / d input (undefined if `wanted` is false).
  virtual at::Tensor backward(const at::Tensor& gradient, bool wanted) = 0;
  /// Whether it has a gradient to write. Layers before the first such layer need no backward.
  virtual bool trains() const { return false; }
  /// Called once per step, after the parameters changed. `quantized` tells whether formats apply.
  virtual void begin_step(bool quantized) { static_cast<void>(quantized); }
  virtual Layout layout() const { return Layout::rows; }
  /// Absorbs the node that follows, if it can, and returns whether it did.
  virtual bool absorb(const LayerSource&) { return false; }
  /// For a layer that is or has absorbed a sum: sets its other operand before `forward`.
  virtual void take_addend(const at::Tensor&) {}
  /// After `backward`, returns d loss / d addend.
  virtual at::Tensor addend_gradient() const { return {}; }
};

/// The sources of a layer's tensors and constants.
struct LayerSource {
  const ir::Graph& graph;
  const ir::Node& node;
  std::map<std::string, at::Tensor>& tensors;
  const Parameters& parameters;
  const libtorch::TrainingRounding& rounding;
  std::shared_ptr<LaneBatch> batch;  ///< shared by all layers of the network
  bool in_lanes = false;             ///< layout of the previous layer

  /// The constant of this argument, from the node or its module; nullptr if it is the default.
  const ir::Value* constant(std::string_view argument) const;
  std::vector<std::int64_t> integers(std::string_view argument, std::int64_t fallback) const;
  bool flag(std::string_view argument, bool fallback) const;
  bool trains(std::string_view argument) const;  ///< $training or true
  PortQuantizer quantizer(const std::string& port) const;
};

/// A tensor argument of a layer, and the tensor for its gradient (undefined if frozen).
struct LayerTensor {
  at::Tensor value, gradient;
  PortQuantizer quantizer;
  at::Tensor used{};  ///< the value to use in this step, quantized or not

  void begin_step(bool quantized);
  /// Converts the gradient of `used`, which the layer has written to `gradient`, to the value's.
  void finish_gradient();
};
/// The tensor of this argument; undefined if the module has none.
LayerTensor layer_tensor(const LayerSource& source, std::string_view argument);

/// Whether it is max pooling over adjacent squares of 2 x 2.
bool is_square_pool(const LayerSource& source);

/// The bounds of ReLU (0 .. infinity) and of clamps such as ReLU6.
struct ActivationBounds {
  double low = 0, high = 0;
};
std::optional<ActivationBounds> activation_bounds(const LayerSource& source);

/// Whether it is a sum of two tensors of the result's shape.
bool is_sum(const ir::Graph& graph, const ir::Node& node);

/// Whether it is a mean over all positions of images.
bool is_global_mean(const LayerSource& source);

/// Whether it is a batch norm that uses and tracks the batch's statistics.
bool is_training_batch_norm(const LayerSource& source);

/// Makes a layer; null for an operator, or a use of one, that has no layer here.
std::unique_ptr<Layer> make_layer(const LayerSource& source);

std::unique_ptr<Layer> make_linear(const LayerSource& source);
std::unique_ptr<Layer> make_batch_norm(const LayerSource& source);
std::unique_ptr<Layer> make_max_pool2d(const LayerSource& source);
std::unique_ptr<Layer> make_dropout(const LayerSource& source);
std::unique_ptr<Layer> make_activation(const LayerSource& source);
std::unique_ptr<Layer> make_sum(const LayerSource& source);
std::unique_ptr<Layer> make_reshape(const LayerSource& source);  ///< flatten, view
std::unique_ptr<Layer> make_quantize(PortQuantizer quantizer);   ///< for a data port

/// Makes `tensor` a new tensor unless it already has this shape, so that buffers are reused.
void fit(at::Tensor& tensor, at::IntArrayRef shape);

}  // namespace mase::train
