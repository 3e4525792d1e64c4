// SPDX-License-Identifier: Apache-2.0
// Printing a graph in its text form: one line per declaration and node, in a fixed order.
#include "base/text.hpp"
#include "ir/custom_op.hpp"
#include "ir/lexer.hpp"
#include "ir/text.hpp"

namespace mase::ir {
namespace {

std::string word(std::string_view text) {
  return is_plain_word(text) ? std::string(text) : quote(text);
}

template <class Range, class Print>
std::string list_text(const Range& range, Print&& print_one) {
  std::string text;
  for (const auto& item : range) {
    if (!text.empty()) text += ", ";
    text += print_one(item);
  }
  return text;
}

std::string items_text(const Graph& graph, const Value& value) {
  return list_text(value.items(), [&](const Value& item) { return print(graph, item); });
}

// A one-element tuple keeps Python's comma, which tells it from parentheses.
std::string tuple_text(const Graph& graph, const Value& value) {
  return "(" + items_text(graph, value) + (value.items().size() == 1 ? ",)" : ")");
}

std::string dict_text(const Graph& graph, const Value& value) {
  return "{" +
         list_text(value.entries(),
                   [&](const auto& entry) {
                     return quote(entry.first) + ": " + print(graph, entry.second);
                   }) +
         "}";
}

// A reference to a removed node is printed with its number, which the parser refuses.
std::string node_text(const Graph& graph, NodeId id) {
  return graph.contains(id) ? "%" + graph.node(id).name : "%?" + std::to_string(id);
}

std::string arguments_text(const Graph& graph, const std::vector<Argument>& arguments) {
  return list_text(arguments, [&](const Argument& argument) {
    return word(argument.name) + "=" + print(graph, argument.value);
  });
}

std::string elements_text(const ValueInfo& info) {
  return "(" + list_text(info.elements, [](const ValueInfo& item) { return print(item); }) + ")";
}

std::string keyed_elements_text(const ValueInfo& info) {
  std::string text;
  for (std::size_t i = 0; i < info.elements.size(); ++i) {
    const std::string key = i < info.keys.size() ? info.keys[i] : "";
    text += (i == 0 ? "" : ", ") + quote(key) + ": " + print(info.elements[i]);
  }
  return "(" + text + ")";
}

std::string module_text(const Graph& graph, const Module& module) {
  std::string text = "  module " + word(module.path) + " : " + word(module.class_name) + " = " +
                     word(module.op) + "(" + arguments_text(graph, module.attributes) + ")";
  if (module.tensors.empty()) return text + "\n";
  return text + " [" +
         list_text(
             module.tensors,
             [](const auto& entry) { return word(entry.first) + "=@" + word(entry.second); }) +
         "]\n";
}

std::string tensor_text(const std::string& path, const Tensor& tensor) {
  const ValueInfo info = ValueInfo::tensor(tensor.value.dtype(), tensor.value.shape());
  return "  tensor " + word(path) + " : " + print(info) +
         (tensor.is_parameter ? " parameter" : " buffer") + (tensor.requires_grad ? " grad" : "") +
         (tensor.begins.empty() ? "" : " begins " + word(tensor.begins)) +
         (tensor.other_names.empty() ? "" : " also " + list_text(tensor.other_names, word)) + "\n";
}

std::string tensors_text(const Graph& graph) {
  std::string text;
  std::map<std::string, Tensor> rest = graph.tensors;
  for (const std::string& path : graph.tensor_order) {
    const auto it = rest.find(path);
    if (it == rest.end()) continue;
    text += tensor_text(path, it->second);
    rest.erase(it);
  }
  for (const auto& [path, tensor] : rest) text += tensor_text(path, tensor);
  return text;
}

std::string formats_text(const Node& node) {
  if (node.formats.empty()) return "";
  return " {" +
         list_text(
             node.formats,
             [](const auto& entry) { return word(entry.first) + "=" + entry.second.text(); }) +
         "}";
}

std::string body_text(const Node& node);

std::string node_line(const Graph& graph, const Node& node) {
  std::string text = "  %" + node.name;
  if (node.info.kind != ValueInfo::Kind::unknown) text += " : " + print(node.info);
  text += " = " + std::string(kind_name(node.kind)) + " " + word(node.target);
  // An operator without a namespace is quoted, so that it cannot be a declaration's keyword.
  const bool qualified = node.op.find("::") != std::string::npos;
  if (!node.op.empty()) text += " " + (qualified ? word(node.op) : quote(node.op));
  if (!node.args.empty()) text += "(" + arguments_text(graph, node.args) + ")";
  return text + formats_text(node) + body_text(node) + "\n";
}

std::string body_text(const Node& node) {
  if (!node.body) return "";
  std::string text = " body {\n";
  for (const NodeId id : node.body->order())
    text += "  " + node_line(*node.body, node.body->node(id));
  return text + "  }";
}

std::string metadata_lines(const Node& node) {
  std::string text;
  const auto line = [&](std::string_view part, const Tree& tree) {
    if (!tree.is_null()) text += "    | " + std::string(part) + " = " + to_json(tree, -1) + "\n";
  };
  line("common", node.meta.common);
  line("software", node.meta.software);
  line("hardware", node.meta.hardware);
  line("source", node.source);
  return text;
}

std::string header_text(const Graph& graph) {
  std::string text;
  for (const auto& [path, class_name] : graph.containers)
    text += "  container " + word(path) + " : " + word(class_name) + "\n";
  for (const auto& [name, op] : graph.custom_ops)
    text += "  custom_op " + word(name) + " " + to_json(write_custom_op(*op), -1) + "\n";
  for (const auto& [path, module] : graph.modules) text += module_text(graph, module);
  text += tensors_text(graph);
  for (const Guard& guard : graph.guards)
    text += "  guard " + quote(guard.place) + " " + quote(guard.condition) + "\n";
  if (graph.history.size() > 0) text += "  history " + to_json(graph.history, -1) + "\n";
  if (!graph.source.is_null()) text += "  source " + to_json(graph.source, -1) + "\n";
  return text;
}

}  // namespace

std::string print(const Graph& graph, const PrintOptions& options) {
  std::string text = "graph " + quote(graph.name) + " {\n" + header_text(graph);
  for (NodeId id : graph.order()) {
    text += node_line(graph, graph.node(id));
    if (options.metadata) text += metadata_lines(graph.node(id));
  }
  return text + "}\n";
}

std::string print(const Graph& graph, const Value& value) {
  switch (value.kind()) {
    case Value::Kind::none:
      return "none";
    case Value::Kind::boolean:
      return value.as_bool() ? "true" : "false";
    case Value::Kind::integer:
      return std::to_string(value.as_int());
    case Value::Kind::number:
      return double_text(value.as_double());
    case Value::Kind::string:
      return quote(value.as_string());
    case Value::Kind::node:
      return node_text(graph, value.node());
    case Value::Kind::training:
      return "$training";
    case Value::Kind::list:
      return "[" + items_text(graph, value) + "]";
    case Value::Kind::tuple:
      return tuple_text(graph, value);
    case Value::Kind::dict:
      return dict_text(graph, value);
    case Value::Kind::slice:
      return "slice(" + items_text(graph, value) + ")";
  }
  return "?";
}

std::string print(const ValueInfo& info) {
  switch (info.kind) {
    case ValueInfo::Kind::unknown:
      return "unknown";
    case ValueInfo::Kind::tensor:
      return std::string(dtype_name(info.dtype)) + shape_text(info.shape);
    case ValueInfo::Kind::integer:
      return "int";
    case ValueInfo::Kind::number:
      return "float";
    case ValueInfo::Kind::boolean:
      return "bool";
    case ValueInfo::Kind::string:
      return "string";
    case ValueInfo::Kind::none:
      return "none";
    case ValueInfo::Kind::list:
      return "list" + elements_text(info);
    case ValueInfo::Kind::tuple:
      return "tuple" + elements_text(info);
    case ValueInfo::Kind::dict:
      return "dict" + keyed_elements_text(info);
  }
  return "?";
}

}  // namespace mase::ir
