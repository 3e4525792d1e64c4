// SPDX-License-Identifier: Apache-2.0
// Names a node's arguments for its metadata.
#include "ir/node_arguments.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <string>

#include "ir/custom_op.hpp"
#include "ir/op_table.hpp"

namespace mase::ir {
namespace {

/// An argument with its Python name and the operator's name for it.
struct Given {
  std::string_view shown;
  std::string_view aten;
  Value value;
};

// A function written in Python shows its parameters by Python's names, with defaults filled in.
std::vector<Given> given_by_signature(const Graph& graph, const Node& node,
                                      const PythonSignature& signature) {
  const FxArguments fx = fx_arguments(graph, node);
  std::vector<Given> given;
  std::size_t position = 0, keyword = 0;
  for (const PythonParameter& parameter : signature)
    given.push_back({parameter.name, parameter.aten,
                     parameter.required ? fx.args.at(position++) : fx.kwargs.at(keyword++).second});
  return given;
}

std::vector<Given> given_arguments(const Graph& graph, const Node& node) {
  const auto* signature =
      node.kind == NodeKind::call_function ? python_signature(node.target) : nullptr;
  if (signature) return given_by_signature(graph, node, *signature);
  std::vector<Given> given;
  for (const Argument& argument : node.args)
    given.push_back({argument.name, argument.name, argument.value});
  return given;
}

class Namer {
 public:
  Namer(const Graph& graph, const Node& node)
      : graph_(graph), node_(node), row_(classify(graph, node).row) {
    if (custom_op(graph, node))
      for (const Port& port : ports(graph, node)) own_ports_.emplace(port.argument, port.name);
  }

  std::vector<NamedArgument> run() {
    for (const Given& given : given_arguments(graph_, node_)) add(given);
    if (node_.kind == NodeKind::call_module) add_module(graph_.module_of(node_));
    return std::move(found_);
  }

 private:
  std::string_view port_of(std::string_view aten) const {
    if (!row_) return {};
    if (const auto own = own_ports_.find(aten); own != own_ports_.end()) return own->second;
    const auto it = std::ranges::find(row_->args, aten, &ArgRow::name);
    return it == row_->args.end() ? std::string_view{} : it->port;
  }

  // For operators outside the table and the output, every argument that refers to a node is data.
  bool is_data(const Given& given) const {
    if (row_) return !port_of(given.aten).empty();
    bool refers = false;
    given.value.for_each_node([&](NodeId) { refers = true; });
    return refers;
  }

  void add(const Given& given) {
    if (!is_data(given)) {
      found_.push_back({std::string(given.shown), "", given.value, ""});
      return;
    }
    const std::string_view port = row_ ? port_of(given.aten) : "data_in";
    add_data(given, port.empty() ? "data_in" : port, given.value);
  }

  // A parameter keeps its name ("weight" on port weight); other data is numbered, so that both
  // operands of a matmul are data although the second sits on the port "weight".
  void add_data(const Given& given, std::string_view port, const Value& value) {
    switch (value.kind()) {
      case Value::Kind::none:
        return;
      case Value::Kind::list:
      case Value::Kind::tuple:
        for (const Value& item : value.items()) add_data(given, port, item);
        return;
      case Value::Kind::dict:
        for (const auto& [key, item] : value.entries()) add_data(given, port, item);
        return;
      default:
        break;
    }
    const std::string name =
        given.aten == port ? std::string(port) : "data_in_" + std::to_string(data_count_++);
    found_.push_back({name, std::string(port), value, ""});
  }

  /// The name of one of an argument's several tensors, as in torch.nn: "weight_ih_l0".
  static std::string name_of(const Module& module, const std::string& argument,
                             const std::string& path) {
    const auto same = [&](const auto& tensor) { return tensor.first == argument; };
    if (std::ranges::count_if(module.tensors, same) < 2) return argument;
    return path.substr(path.rfind('.') + 1);
  }

  void add_module(const Module& module) {
    for (const auto& [argument, path] : module.tensors) {
      const std::string_view port = port_of(argument);
      found_.push_back({name_of(module, argument, path),
                        std::string(port.empty() ? argument : port), Value(), path});
    }
    for (const Argument& attribute : module.attributes)
      found_.push_back({attribute.name, "", attribute.value, ""});
  }

  const Graph& graph_;
  const Node& node_;
  const OpRow* row_;
  std::map<std::string, std::string, std::less<>> own_ports_;  ///< a custom op's, by argument
  std::vector<NamedArgument> found_;
  int data_count_ = 0;
};

Tree items_json(const Graph& graph, const Value& value) {
  Tree items = Tree::list();
  for (const Value& item : value.items()) items.push_back(value_json(graph, item));
  return items;
}

Tree single(std::string_view key, Tree content) {
  Tree tree = Tree::dict();
  tree[key] = std::move(content);
  return tree;
}

}  // namespace

std::vector<NamedArgument> named_arguments(const Graph& graph, const Node& node) {
  return Namer(graph, node).run();
}

Tree value_json(const Graph& graph, const Value& value) {
  switch (value.kind()) {
    case Value::Kind::none:
      return Tree();
    case Value::Kind::boolean:
      return value.as_bool();
    case Value::Kind::integer:
      return value.as_int();
    case Value::Kind::number:
      return value.as_double();
    case Value::Kind::string:
      return value.as_string();
    case Value::Kind::node:
      return single("node", graph.node(value.node()).name);
    case Value::Kind::training:
      return false;
    case Value::Kind::list:
    case Value::Kind::tuple:
      return items_json(graph, value);
    case Value::Kind::slice:
      return single("slice", items_json(graph, value));
    case Value::Kind::dict:
      break;
  }
  Tree entries = Tree::dict();
  for (const auto& [key, item] : value.entries()) entries[key] = value_json(graph, item);
  return entries;
}

}  // namespace mase::ir
