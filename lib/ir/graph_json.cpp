// SPDX-License-Identifier: Apache-2.0
// The whole graph as JSON, and its metadata alone as one tree.
#include "ir/metadata.hpp"
#include "ir/node_arguments.hpp"
#include "ir/op_table.hpp"
#include "ir/text.hpp"

namespace mase::ir {
namespace {

Tree info_json(const ValueInfo& info) {
  Tree tree = Tree::dict();
  if (info.is_tensor()) {
    tree["dtype"] = dtype_name(info.dtype);
    tree["shape"] = Tree::list_of(info.shape);
    return tree;
  }
  const std::string text = print(info);
  tree["type"] = text.substr(0, text.find('('));
  if (info.elements.empty()) return tree;
  Tree elements = Tree::list();
  for (const ValueInfo& element : info.elements) elements.push_back(info_json(element));
  tree["elements"] = std::move(elements);
  if (info.kind == ValueInfo::Kind::dict) tree["keys"] = Tree::list_of(info.keys);
  return tree;
}

Tree node_json(const Graph& graph, const Node& node) {
  const FxArguments fx = fx_arguments(graph, node);
  Tree args = Tree::list(), kwargs = Tree::dict(), formats = Tree::dict();
  for (const Value& value : fx.args) args.push_back(value_json(graph, value));
  for (const auto& [name, value] : fx.kwargs) kwargs[name] = value_json(graph, value);
  for (const auto& [port, format] : node.formats) formats[port] = format.text();
  Tree metadata = Tree::dict();
  metadata["common"] = node.meta.common;
  metadata["software"] = node.meta.software;
  metadata["hardware"] = node.meta.hardware;
  Tree tree = Tree::dict();
  tree["name"] = node.name;
  tree["op"] = kind_name(node.kind);
  tree["target"] = node.target;
  tree["args"] = std::move(args);
  tree["kwargs"] = std::move(kwargs);
  tree["metadata"] = std::move(metadata);
  tree["info"] = info_json(node.info);
  tree["formats"] = std::move(formats);
  if (!node.source.is_null()) tree["source"] = node.source;
  return tree;
}

Tree or_empty(const Tree& part) { return part.is_null() ? Tree::dict() : part; }

}  // namespace

Tree graph_json(const Graph& graph) {
  Tree nodes = Tree::list();
  for (NodeId id : graph.order()) nodes.push_back(node_json(graph, graph.node(id)));
  Tree tree = Tree::dict();
  tree["nodes"] = std::move(nodes);
  if (!graph.source.is_null()) tree["source"] = graph.source;
  return tree;
}

Tree metadata_tree(const Graph& graph) {
  Tree tree = Tree::dict();
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    Tree parts = Tree::dict();
    parts["common"] = or_empty(node.meta.common);
    parts["software"] = or_empty(node.meta.software);
    parts["hardware"] = or_empty(node.meta.hardware);
    tree[node.name] = std::move(parts);
  }
  return tree;
}

}  // namespace mase::ir
