// SPDX-License-Identifier: Apache-2.0
// Gradients of chains of common layers, by hand-written backward steps.
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>

#include <optional>
#include <set>

#include "ir/op_table.hpp"
#include "torch/train/lanes/layers.hpp"
#include "torch/train/network.hpp"

namespace mase::train {
namespace {

class ChainNetwork : public TrainableNetwork {
 public:
  explicit ChainNetwork(std::vector<std::unique_ptr<Layer>> layers) : layers_(std::move(layers)) {
    while (first_ < layers_.size() && !layers_[first_]->trains()) ++first_;
  }

  void begin_step(bool quantized) override {
    const at::AutoDispatchBelowADInplaceOrView no_autograd;
    for (const auto& layer : layers_) layer->begin_step(quantized);
  }

  at::Tensor forward(const std::vector<c10::IValue>& inputs) override {
    const at::AutoDispatchBelowADInplaceOrView no_autograd;
    at::Tensor value = inputs.front().toTensor();
    for (const auto& layer : layers_) value = layer->forward(value);
    return value;
  }

  void backward(const at::Tensor& output_gradient) override {
    const at::AutoDispatchBelowADInplaceOrView no_autograd;
    at::Tensor gradient = output_gradient;
    for (std::size_t i = layers_.size(); i-- > first_;)
      gradient = layers_[i]->backward(gradient, i > first_);
  }

 private:
  std::vector<std::unique_ptr<Layer>> layers_;
  std::size_t first_ = 0;  ///< layer with a gradient to write
};

/// Whether the node's only reference is to `previous`.
bool follows(const ir::Node& node, ir::NodeId previous) {
  int references = 0;
  bool right = true;
  for (const ir::Argument& argument : node.args)
    argument.value.for_each_node([&](ir::NodeId id) {
      ++references;
      right = right && id == previous;
    });
  return references == 1 && right;
}

/// Collects the layers of a chain of nodes.
class ChainBuilder {
 public:
  ChainBuilder(libtorch::Executor& executor, const Parameters& parameters)
      : executor_(executor), parameters_(parameters), graph_(executor.graph()) {}

  /// The layers; nothing when the graph is no chain of common layers.
  std::optional<std::vector<std::unique_ptr<Layer>>> build() {
    ir::NodeId previous = ir::no_node;
    for (ir::NodeId id : graph_.order()) {
      if (!add(graph_.node(id), previous)) return {};
      previous = id;
    }
    convert_to(Layout::rows);
    return std::move(layers_);
  }

 private:
  bool add(const ir::Node& node, ir::NodeId previous) {
    if (node.kind == ir::NodeKind::placeholder) {
      if (previous != ir::no_node) return false;
    } else if (!follows(node, previous)) {
      return false;
    } else if (node.kind == ir::NodeKind::output) {
      return node.args.front().value.is_node() && node.formats.empty();
    } else if (!add_layer(node)) {
      return false;
    }
    if (node.formats.contains("data_out")) add_quantizer(node, "data_out");
    return true;
  }

  bool add_layer(const ir::Node& node) {
    // A layer called twice would need its gradients added up.
    const bool again =
        node.kind == ir::NodeKind::call_module && !called_.insert(node.target).second;
    if (again) return false;
    for (const ir::Port& port : ir::ports(graph_, node))
      if (port.value.is_node() && node.formats.contains(port.name)) add_quantizer(node, port.name);
    if (!layers_.empty() && layers_.back()->absorb(source(node))) return true;
    return add(make_layer(source(node)));
  }

  void add_quantizer(const ir::Node& node, const std::string& port) {
    PortQuantizer quantizer = source(node).quantizer(port);
    add(layout_ == Layout::lanes ? make_lane_quantize(std::move(quantizer), batch_)
                                 : make_quantize(std::move(quantizer)));
  }

  bool add(std::unique_ptr<Layer> layer) {
    if (!layer) return false;
    convert_to(layer->layout());
    layers_.push_back(std::move(layer));
    return true;
  }

  /// Lets the next layer find rows or lanes.
  void convert_to(Layout layout) {
    if (layout == Layout::any || layout == layout_) return;
    layers_.push_back(make_layout_change(layout, batch_));
    layout_ = layout;
  }

  LayerSource source(const ir::Node& node) const {
    return {graph_,
            node,
            executor_.tensors(),
            parameters_,
            executor_.rounding(),
            batch_,
            layout_ == Layout::lanes};
  }

  libtorch::Executor& executor_;
  const Parameters& parameters_;
  const ir::Graph& graph_;
  std::vector<std::unique_ptr<Layer>> layers_;
  Layout layout_ = Layout::rows;  ///< of what the last layer writes
  std::shared_ptr<LaneBatch> batch_ = std::make_shared<LaneBatch>();
  std::set<std::string> called_;
};

}  // namespace

std::unique_ptr<TrainableNetwork> make_chain_network(libtorch::Executor& executor,
                                                     Parameters& parameters) {
  auto layers = ChainBuilder(executor, parameters).build();
  return layers ? std::make_unique<ChainNetwork>(std::move(*layers)) : nullptr;
}

}  // namespace mase::train
