// SPDX-License-Identifier: Apache-2.0
// Goes through the arguments of all nodes.
#include "ir/tensor_readers.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "ir/op_table.hpp"

namespace mase::ir {
namespace {

using formats::Format;

/// Some rows of a tensor.
struct Part {
  std::string path;
  std::int64_t first = 0, count = 1;
};

/// The format through which a node reads an argument that holds the node `source` (no_node: a
/// tensor of the node's own layer).
const Format* format_at(const Node& node, const std::vector<Port>& ports,
                        const std::string& argument, NodeId source) {
  for (const Port& port : ports) {
    const bool is_other = port.value.is_node() && port.value.node() != source;
    const auto format = node.formats.find(port.name);
    if (port.argument == argument && !is_other && format != node.formats.end())
      return &format->second;
  }
  return nullptr;
}

class ReaderMap {
 public:
  explicit ReaderMap(const Graph& graph) : graph_(graph) {
    for (const NodeId id : graph.order()) add(graph.node(id));
  }

  std::map<std::string, TensorReaders> take() { return std::move(readers_); }

 private:
  Part whole(const std::string& path) const {
    const Shape& shape = graph_.tensors.at(path).value.shape();
    return {path, 0, shape.empty() ? 1 : shape.front()};
  }

  /// The path of a tensor that the node cuts along dimension 0 into a list; nullptr for others.
  const std::string* cut_tensor(const Node& node) const {
    constexpr std::array<std::string_view, 3> cuts{"aten::chunk", "aten::split",
                                                   "aten::split_with_sizes"};
    if (std::ranges::find(cuts, base_op(node.op)) == cuts.end()) return nullptr;
    const Value* dimension = node.find("dim");
    const bool is_first = dimension == nullptr ||
                          (dimension->kind() == Value::Kind::integer && dimension->as_int() == 0);
    return is_first && node.formats.empty() ? graph_.tensor_of(node, "self") : nullptr;
  }

  /// The rows that a node takes out of a tensor that was cut; nullopt for other nodes.
  std::optional<Part> taken(const Node& node) const {
    if (node.op != "mase::getitem" || !node.formats.empty()) return std::nullopt;
    const Value &list = node.args.at(0).value, &index = node.args.at(1).value;
    if (!list.is_node() || index.kind() != Value::Kind::integer) return std::nullopt;
    const Node& cut = graph_.node(list.node());
    const std::string* path = cut_tensor(cut);
    const auto& parts = cut.info.elements;
    const std::int64_t last = index.as_int();
    if (!path || last < 0 || last >= static_cast<std::int64_t>(parts.size())) return std::nullopt;
    Part part{*path, 0, 0};
    for (std::int64_t i = 0; i <= last; ++i) {
      part.first += part.count;
      part.count = parts[static_cast<std::size_t>(i)].shape.at(0);
    }
    return part;
  }

  /// The rows of a tensor that a node passes on.
  std::optional<Part> passed(const Node& node) const {
    if (node.kind == NodeKind::get_attr) return whole(node.target);
    if (const std::string* path = cut_tensor(node)) return whole(*path);
    return taken(node);
  }

  void add(const Node& node) {
    if (node.kind == NodeKind::get_attr && !node.formats.empty()) read(whole(node.target), nullptr);
    const std::vector<Port> given = ports(graph_, node);
    if (node.kind == NodeKind::call_module)
      for (const auto& [argument, path] : graph_.module_of(node).tensors)
        read(whole(path), format_at(node, given, argument, no_node));
    if (cut_tensor(node) || taken(node)) return;  // its own readers read
    for (const Argument& argument : node.args)
      argument.value.for_each_node([&](NodeId id) {
        if (const auto part = passed(graph_.node(id)))
          read(*part, format_at(node, given, argument.name, id));
      });
  }

  void read(const Part& part, const Format* format) {
    TensorReaders& readers = readers_[part.path];
    readers.differ =
        readers.differ || format == nullptr || (readers.format && !(*readers.format == *format));
    if (format != nullptr) readers.format = *format;
    readers.parts.emplace(part.first, part.count);
  }

  const Graph& graph_;
  std::map<std::string, TensorReaders> readers_;
};

}  // namespace

std::map<std::string, TensorReaders> tensor_readers(const Graph& graph) {
  return ReaderMap(graph).take();
}

std::map<std::string, int> tensor_uses(const Graph& graph) {
  std::map<std::string, int> uses;
  for (const auto& [path, module] : graph.modules)
    for (const auto& [argument, tensor] : module.tensors) ++uses[tensor];
  const auto add_attributes = [&](const Graph& part) {
    for (const NodeId id : part.order())
      if (part.node(id).kind == NodeKind::get_attr) ++uses[part.node(id).target];
  };
  add_attributes(graph);
  for (const NodeId id : graph.order())
    if (graph.node(id).body) add_attributes(*graph.node(id).body);
  return uses;
}

std::map<std::string, formats::Format> common_formats(const Graph& graph) {
  std::map<std::string, formats::Format> common;
  for (const auto& [path, readers] : tensor_readers(graph))
    if (!readers.differ && readers.format) common.emplace(path, *readers.format);
  return common;
}

}  // namespace mase::ir
