// SPDX-License-Identifier: Apache-2.0
// Chooses a layer for every node, or an earlier layer that absorbs the node.
#include "torch/train/layer_steps.hpp"

#include <map>
#include <set>

#include "ir/op_table.hpp"
#include "torch/train/lanes/layers.hpp"

namespace mase::train {
namespace {

/// A tensor that a node reads as an argument.
struct Operand {
  std::string argument;
  std::size_t value;
};

class StepBuilder {
 public:
  StepBuilder(libtorch::Executor& executor, const Parameters& parameters)
      : executor_(executor), parameters_(parameters), graph_(executor.graph()) {
    for (ir::NodeId id : graph_.order())
      for (const ir::Argument& argument : graph_.node(id).args)
        argument.value.for_each_node([&](ir::NodeId from) { ++readers_[from]; });
  }

  std::optional<std::vector<LayerStep>> build() {
    for (ir::NodeId id : graph_.order())
      if (!add(graph_.node(id))) return {};
    return std::move(steps_);
  }

 private:
  bool add(const ir::Node& node) {
    if (node.kind == ir::NodeKind::placeholder) {
      if (!values_.empty()) return false;
      set_value(node, 0);
    } else if (node.kind == ir::NodeKind::output) {
      return add_output(node);
    } else if (!add_layer(node)) {
      return false;
    }
    if (node.formats.contains("data_out"))
      set_value(node, add_quantizer(node, "data_out", values_[node.id]));
    // A value without readers would end with an undefined gradient.
    return readers_[node.id] > 0;
  }

  bool add_output(const ir::Node& node) {
    const ir::Value& value = node.args.front().value;
    if (!value.is_node() || !node.formats.empty()) return false;
    return converted(values_.at(value.node()), Layout::rows) == steps_.size();
  }

  bool add_layer(const ir::Node& node) {
    // The gradients of a tensor that is used twice would have to be added up.
    if (node.kind == ir::NodeKind::call_module)
      for (const auto& [argument, tensor] : graph_.module_of(node).tensors)
        if (!used_.insert(tensor).second) return false;
    const auto operands = operands_of(node);
    if (!operands) return false;
    if (node.op == "mase::identity") return alias(node, *operands);
    return is_sum(graph_, node) ? add_sum(node, *operands) : add_unary(node, *operands);
  }

  /// The operands with the formats of their ports; nothing if an argument is a list of nodes.
  std::optional<std::vector<Operand>> operands_of(const ir::Node& node) {
    std::vector<Operand> operands;
    for (const ir::Argument& argument : node.args) {
      int references = 0;
      argument.value.for_each_node([&](ir::NodeId) { ++references; });
      if (references == 0) continue;
      if (!argument.value.is_node()) return {};
      operands.push_back({argument.name, values_.at(argument.value.node())});
    }
    for (const ir::Port& port : ir::ports(graph_, node))
      for (Operand& operand : operands)
        if (operand.argument == port.argument && node.formats.contains(port.name))
          operand.value = add_quantizer(node, port.name, operand.value);
    return operands;
  }

  /// Makes the node another name of a value, whose readers become those of the value.
  bool alias(const ir::Node& node, const std::vector<Operand>& operands) {
    if (operands.size() != 1) return false;
    values_[node.id] = operands[0].value;
    reads_[operands[0].value] += readers_[node.id] - 1;
    return true;
  }

  bool add_unary(const ir::Node& node, const std::vector<Operand>& operands) {
    if (operands.size() != 1) return false;
    return absorbed(node, operands[0].value, {}) ||
           add(node, make_layer(source(node, operands[0].value)), operands[0].value, {});
  }

  bool add_sum(const ir::Node& node, const std::vector<Operand>& operands) {
    if (operands.size() != 2) return false;
    // The layer that ran last knows the other operand.
    std::size_t input = operands[0].value, addend = operands[1].value;
    if (input < addend) std::swap(input, addend);
    if (absorbed(node, input, addend)) return true;
    const bool lanes = layouts_[input] == Layout::lanes || layouts_[addend] == Layout::lanes;
    if (lanes) input = converted(input, Layout::lanes);
    return add(node, make_layer(source(node, input)), input, addend);
  }

  /// Whether the layer that computes `input`, if it has no other reader, absorbs the node.
  bool absorbed(const ir::Node& node, std::size_t input, std::optional<std::size_t> addend) {
    if (input == 0 || reads_[input] != 1) return false;
    if (addend && (*addend == input || layouts_[*addend] != layouts_[input])) return false;
    LayerStep& step = steps_[input - 1];
    if (!step.layer->absorb(source(node, input))) return false;
    if (addend) step.addend = addend;
    set_value(node, input);
    return true;
  }

  void set_value(const ir::Node& node, std::size_t value) {
    values_[node.id] = value;
    reads_[value] = readers_[node.id];
  }

  std::size_t add_quantizer(const ir::Node& node, const std::string& port, std::size_t input) {
    PortQuantizer quantizer = source(node, input).quantizer(port);
    return push(layouts_[input] == Layout::lanes ? make_lane_quantize(std::move(quantizer), batch_)
                                                 : make_quantize(std::move(quantizer)),
                input);
  }

  bool add(const ir::Node& node, std::unique_ptr<Layer> layer, std::size_t input,
           std::optional<std::size_t> addend) {
    if (!layer) return false;
    const Layout layout = layer->layout() == Layout::any ? layouts_[input] : layer->layout();
    input = converted(input, layout);
    if (addend) addend = converted(*addend, layout);
    set_value(node, push(std::move(layer), input, addend));
    return true;
  }

  /// Adds a layer and returns the number of its value.
  std::size_t push(std::unique_ptr<Layer> layer, std::size_t input,
                   std::optional<std::size_t> addend = {}) {
    layouts_.push_back(layer->layout() == Layout::any ? layouts_[input] : layer->layout());
    steps_.push_back({std::move(layer), input, addend});
    return steps_.size();
  }

  /// Converts a value to rows or lanes.
  std::size_t converted(std::size_t value, Layout layout) {
    if (layouts_[value] == layout) return value;
    const auto [found, is_new] = conversions_.try_emplace(value, 0);
    if (is_new) found->second = push(make_layout_change(layout, batch_), value);
    return found->second;
  }

  LayerSource source(const ir::Node& node, std::size_t input) const {
    return {graph_,
            node,
            executor_.tensors(),
            parameters_,
            executor_.rounding(),
            batch_,
            layouts_[input] == Layout::lanes};
  }

  libtorch::Executor& executor_;
  const Parameters& parameters_;
  const ir::Graph& graph_;
  std::vector<LayerStep> steps_;
  std::vector<Layout> layouts_{Layout::rows};       ///< of the values
  std::map<ir::NodeId, std::size_t> values_;        ///< of the nodes
  std::map<ir::NodeId, int> readers_;               ///< references to the nodes
  std::map<std::size_t, int> reads_;                ///< references to the values
  std::map<std::size_t, std::size_t> conversions_;  ///< to the other layout
  std::shared_ptr<LaneBatch> batch_ = std::make_shared<LaneBatch>();
  std::set<std::string> used_;  ///< tensors of layers
};

}  // namespace

std::optional<std::vector<LayerStep>> layer_steps(libtorch::Executor& executor,
                                                  const Parameters& parameters) {
  return StepBuilder(executor, parameters).build();
}

}  // namespace mase::train
