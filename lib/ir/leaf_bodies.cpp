// SPDX-License-Identifier: Apache-2.0
// Putting bodies in place of opaque leaves.
#include "ir/leaf_bodies.hpp"

#include <vector>

#include "base/error.hpp"

namespace mase::ir {
namespace {

/// What stands outside for the nodes of a body.
using Places = std::map<NodeId, Value>;

void place_nodes(Value& value, const Places& places) {
  value.change_nodes([&](NodeId id) {
    const auto found = places.find(id);
    if (found == places.end()) file_error("a node of the body is used before it is computed");
    return found->second;
  });
}

class BodyPlacer {
 public:
  BodyPlacer(Graph& graph, NodeId leaf) : graph_(graph), leaf_(leaf) {}

  void run() {
    const std::shared_ptr<const Graph> body = graph_.node(leaf_).body;
    place_inputs(*body);
    for (const NodeId id : body->order()) {
      const Node& node = body->node(id);
      if (node.kind == NodeKind::placeholder) continue;
      if (node.kind == NodeKind::output) return finish(node);
      if (node.body) file_error("a leaf stands inside of a leaf");
      place(node);
    }
    file_error("the body has no output");
  }

 private:
  void place_inputs(const Graph& body) {
    const std::vector<NodeId> inputs = body.placeholders();
    std::vector<NodeId> given;
    for (const Argument& argument : graph_.node(leaf_).args)
      argument.value.for_each_node([&](NodeId id) { given.push_back(id); });
    if (given.size() != inputs.size())
      file_error("the body takes " + std::to_string(inputs.size()) + " inputs, the leaf has " +
                 std::to_string(given.size()));
    for (std::size_t i = 0; i < given.size(); ++i) places_.emplace(inputs[i], NodeRef{given[i]});
  }

  void place(const Node& node) {
    Node copy = node;
    copy.name = graph_.node(leaf_).name + "_" + node.name;
    for (Argument& argument : copy.args) place_nodes(argument.value, places_);
    places_.emplace(node.id, NodeRef{graph_.add(std::move(copy), leaf_)});
  }

  void finish(const Node& output) {
    if (output.args.size() != 1) file_error("the body's output needs exactly one argument");
    Value result = output.args[0].value;
    place_nodes(result, places_);
    Node& leaf = graph_.node(leaf_);
    if (leaf.kind == NodeKind::call_module) make_container(leaf.target);
    leaf.kind = NodeKind::call_function;
    leaf.op = "mase::identity";
    leaf.args = {{"self", std::move(result)}};
    leaf.body = nullptr;
  }

  /// The layer's tensors keep their paths.
  void make_container(const std::string& path) {
    const auto module = graph_.modules.find(path);
    if (module == graph_.modules.end()) return;
    graph_.containers.emplace(path, module->second.class_name);
    graph_.modules.erase(module);
  }

  Graph& graph_;
  NodeId leaf_;
  Places places_;
};

}  // namespace

Graph without_leaf_bodies(const Graph& graph) {
  Graph flat = graph;
  for (const NodeId id : graph.order()) {
    if (!graph.node(id).body) continue;
    try {
      BodyPlacer(flat, id).run();
    } catch (const Error& error) {
      throw Error(error.fault(), "leaf '" + graph.node(id).name + "': " + error.what());
    }
  }
  return flat;
}

}  // namespace mase::ir
