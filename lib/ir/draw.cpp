// SPDX-License-Identifier: Apache-2.0
// A graph as graphviz text: one box per node, coloured by kind, one edge per use.
#include "ir/draw.hpp"

#include "base/text.hpp"
#include "ir/op_table.hpp"
#include "ir/text.hpp"

namespace mase::ir {
namespace {

std::string_view colour(NodeKind kind) {
  switch (kind) {
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
  for (const auto& [port, format] : node.formats) lines.push_back(port + ": " + format.text());
  return escaped(join(lines, "\n"));
}

}  // namespace

std::string to_dot(const Graph& graph) {
  std::string text = "digraph \"" + escaped(graph.name) +
                     "\" {\n  node [shape=box, style=filled, fontname=\"Helvetica\"];\n";
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    text += "  \"" + node.name + "\" [label=\"" + label(graph, node) + "\", fillcolor=\"" +
            std::string(colour(node.kind)) + "\"];\n";
    for (NodeId input : graph.inputs(id))
      text += "  \"" + graph.node(input).name + "\" -> \"" + node.name + "\";\n";
  }
  return text + "}\n";
}

}  // namespace mase::ir
