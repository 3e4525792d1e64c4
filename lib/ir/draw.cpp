// SPDX-License-Identifier: Apache-2.0
// A graph as graphviz text: one box per node, one around the layers of a container, one edge per
// use.
#include "ir/draw.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"
#include "ir/naming.hpp"
#include "ir/op_table.hpp"
#include "ir/text.hpp"

namespace mase::ir {
namespace {

std::string_view colour(const Node& node) {
  if (!node.formats.empty()) return "#fff2a8";
  switch (node.kind) {
    case NodeKind::placeholder:
      return "#d5e8d4";
    case NodeKind::get_attr:
      return "#e1d5e7";
    case NodeKind::call_function:
      return "#dae8fc";
    case NodeKind::call_method:
      return "#f5f5f5";
    case NodeKind::call_module:
      return "#ffe6cc";
    case NodeKind::output:
      return "#f8cecc";
  }
  return "white";
}

// Graphviz reads its own escapes in labels: only `\` and `"` need one, and a newline is `\n`.
std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out;
}

std::string label(const Graph& graph, const Node& node) {
  std::vector<std::string> lines{node.name, std::string(kind_name(node.kind)) + " " + node.target};
  if (node.kind == NodeKind::call_module) lines.emplace_back(graph.module_of(node).short_class());
  if (node.info.kind != ValueInfo::Kind::unknown) lines.push_back(print(node.info));
  for (const auto& [port, format] : node.formats)
    lines.push_back(port + ": " + format.short_text());
  return escaped(join(lines, "\n"));
}

constexpr std::ptrdiff_t most_nested = 64;  ///< boxes inside each other; deeper layers stand alone

/// The container around a node's layer; "" for a node that is not a layer.
std::string container_of(const Node& node) {
  const auto dots = std::count(node.target.begin(), node.target.end(), '.');
  return node.kind == NodeKind::call_module && dots <= most_nested
             ? std::string(owner_of(node.target))
             : "";
}

/// Writes the nodes of a graph; nodes of layers go into the boxes of their containers.
class Boxes {
 public:
  explicit Boxes(const Graph& graph) : graph_(graph) {
    for (const NodeId id : graph.order()) {
      std::string owner = container_of(graph.node(id));
      nodes_[owner].push_back(id);
      for (; !owner.empty(); owner = owner_of(owner))
        inner_[std::string(owner_of(owner))].insert(owner);
    }
  }

  /// The text of a container's nodes and of the containers inside it.
  std::string text(const std::string& path, const std::string& indent) const {
    std::string out;
    if (const auto nodes = nodes_.find(path); nodes != nodes_.end())
      for (const NodeId id : nodes->second) out += indent + box(graph_.node(id));
    if (const auto inner = inner_.find(path); inner != inner_.end())
      for (const std::string& container : inner->second) out += cluster(container, indent);
    return out;
  }

 private:
  std::string box(const Node& node) const {
    return "\"" + node.name + "\" [label=\"" + label(graph_, node) + "\", fillcolor=\"" +
           std::string(colour(node)) + "\"];\n";
  }

  /// Graphviz draws a box around a subgraph whose name begins with "cluster".
  std::string cluster(const std::string& path, const std::string& indent) const {
    const std::string name = escaped(path);
    return indent + "subgraph \"cluster_" + name + "\" {\n" + indent + "  label=\"" + name +
           "\"; labeljust=\"l\"; fontname=\"Helvetica\"; color=\"#999999\";\n" +
           text(path, indent + "  ") + indent + "}\n";
  }

  const Graph& graph_;
  std::map<std::string, std::vector<NodeId>> nodes_;    ///< by container, in order
  std::map<std::string, std::set<std::string>> inner_;  ///< containers by their outer container
};

}  // namespace

std::string to_dot(const Graph& graph) {
  std::string text = "digraph \"" + escaped(graph.name) +
                     "\" {\n  node [shape=box, style=filled, fontname=\"Helvetica\"];\n" +
                     Boxes(graph).text("", "  ");
  for (const NodeId id : graph.order())
    for (const NodeId input : graph.inputs(id))
      text += "  \"" + graph.node(input).name + "\" -> \"" + graph.node(id).name + "\";\n";
  return text + "}\n";
}

}  // namespace mase::ir
