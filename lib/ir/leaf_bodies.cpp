// SPDX-License-Identifier: Apache-2.0
// Replaces opaque leaves by the nodes of their bodies.
#include "ir/leaf_bodies.hpp"

#include <vector>

#include "base/error.hpp"
#include "ir/custom_op.hpp"
#include "ir/op_table.hpp"

namespace mase::ir {
namespace {

/// The value in the outer graph for every node of a body.
using BodyPlaces = std::map<NodeId, Value>;

void place_nodes(Value& value, const BodyPlaces& places) {
  value.change_nodes([&](NodeId id) {
    const auto found = places.find(id);
    if (found == places.end()) file_error("a node of the body is used before it is computed");
    return found->second;
  });
}

class BodyPlacer {
 public:
  BodyPlacer(Graph& graph, NodeId leaf, LeafPorts* rounding)
      : graph_(graph), leaf_(leaf), rounding_(rounding) {}

  void run() {
    const std::shared_ptr<const Graph> body = graph_.node(leaf_).body;
    place_inputs(*body);
    find_tensor_ports();
    for (const NodeId id : body->order()) {
      const Node& node = body->node(id);
      if (node.kind == NodeKind::placeholder) continue;
      if (node.kind == NodeKind::output) return finish(node);
      if (node.body) file_error("a leaf is inside another leaf");
      place(node);
    }
    file_error("the body has no output");
  }

 private:
  void place_inputs(const Graph& body) {
    const std::vector<NodeId> inputs = body.placeholders();
    const std::vector<LeafInput> given = leaf_inputs(graph_, graph_.node(leaf_));
    if (given.size() != inputs.size())
      file_error("the body takes " + std::to_string(inputs.size()) + " inputs, but the leaf has " +
                 std::to_string(given.size()));
    for (std::size_t i = 0; i < given.size(); ++i)
      places_.emplace(inputs[i],
                      NodeRef{rounded(given[i].node, given[i].port, body.node(inputs[i]).name)});
  }

  /// The ports of the layer's tensors that have formats, by path.
  void find_tensor_ports() {
    for (const Port& port : ports(graph_, graph_.node(leaf_)))
      if (!port.tensor.empty()) tensor_ports_[port.tensor] = port.name;
  }

  /// The node `id`; when the leaf's port has a format, the node that rounds `id` to it.
  NodeId rounded(NodeId id, const std::string& port, const std::string& name) {
    const auto format = graph_.node(leaf_).formats.find(port);
    if (format == graph_.node(leaf_).formats.end()) return id;
    Node node;
    node.name = graph_.node(leaf_).name + "_" + name + "_" + port;
    node.kind = NodeKind::call_function;
    node.target = "mase.identity";
    node.op = "mase::identity";
    node.args = {{"self", NodeRef{id}}};
    node.info = graph_.node(id).info;
    node.formats.emplace("data_in", format->second);
    const NodeId added = graph_.add(std::move(node), leaf_);
    if (rounding_) rounding_->emplace(added, LeafPort{leaf_, port});
    return added;
  }

  void place(const Node& node) {
    Node copy = node;
    copy.name = graph_.node(leaf_).name + "_" + node.name;
    for (Argument& argument : copy.args) place_nodes(argument.value, places_);
    NodeId added = graph_.add(std::move(copy), leaf_);
    const auto port = tensor_ports_.find(node.target);
    if (node.kind == NodeKind::get_attr && port != tensor_ports_.end())
      added = rounded(added, port->second, node.name);
    places_.emplace(node.id, NodeRef{added});
  }

  void finish(const Node& output) {
    if (output.args.size() != 1) file_error("the body's output needs exactly one argument");
    Value result = output.args[0].value;
    place_nodes(result, places_);
    Node& leaf = graph_.node(leaf_);
    leaf.kind = NodeKind::call_function;
    leaf.op = "mase::identity";
    leaf.args = {{"self", std::move(result)}};
    leaf.body = nullptr;
    std::erase_if(leaf.formats, [](const auto& entry) { return entry.first != "data_out"; });
  }

  Graph& graph_;
  NodeId leaf_;
  LeafPorts* rounding_;
  BodyPlaces places_;
  std::map<std::string, std::string> tensor_ports_;
};

/// Makes containers of the layers that were leaves, so that their tensors keep their paths.
void make_containers(Graph& graph) {
  std::erase_if(graph.modules, [&](const auto& entry) {
    if (!is_leaf(entry.second.op)) return false;
    graph.containers.emplace(entry.first, entry.second.class_name);
    return true;
  });
}

}  // namespace

Graph without_leaf_bodies(const Graph& graph, LeafPorts* ports) {
  Graph flat = graph;
  for (const NodeId id : graph.order()) {
    if (!graph.node(id).body) continue;
    try {
      BodyPlacer(flat, id, ports).run();
    } catch (const Error& error) {
      throw Error(error.fault(), "leaf '" + graph.node(id).name + "': " + error.what());
    }
  }
  make_containers(flat);
  return flat;
}

}  // namespace mase::ir
