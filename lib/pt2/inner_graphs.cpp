// SPDX-License-Identifier: Apache-2.0
// Operators that run a graph of their own (torch.no_grad, autocast that is off): the nodes of this
// graph take their place.
#include "pt2/inner_graphs.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "base/error.hpp"
#include "pt2/fields.hpp"

namespace mase::pt2 {
namespace {

/// An operator whose graph runs once on the arguments after it. `graph` is the argument's place.
struct WrapperRow {
  std::string_view target;
  std::size_t graph;
  /// The place of an argument that must be false for the graph to run as it is; none if any may be.
  std::optional<std::size_t> switched_off;
};
constexpr WrapperRow wrapper_rows[] = {
    {"torch.ops.higher_order.wrap_with_set_grad_enabled", 1, std::nullopt},
    {"torch.ops.higher_order.wrap_with_autocast", 4, 2},
};

using Names = std::map<std::string, std::string>;

/// The union with other names.
Tree renamed(const Tree& value, const Names& names) {
  if (value.is_list()) {
    Tree items = Tree::list();
    for (const Tree& item : value.as_list()) items.push_back(renamed(item, names));
    return items;
  }
  if (!value.is_dict()) return value;
  Tree entries = Tree::dict();
  for (const auto& [key, item] : value.as_dict()) {
    const bool is_name = (key == "name" || key == "as_name") && item.is_string();
    const auto found = is_name ? names.find(item.as_string()) : names.end();
    entries[key] = found == names.end() ? renamed(item, names) : Tree(found->second);
  }
  return entries;
}

/// The name that a union refers to; "" for a constant.
std::string name_of(const Tree& value) {
  const UnionValue one = union_of(value, "an argument");
  for (const char* key : {"name", "as_name"})
    if (const Tree* name = one.value.find(key); name && name->is_string()) return name->as_string();
  return "";
}

/// The given node without its inner graph, whose nodes are called by names of the outer one.
class InnerGraph {
 public:
  InnerGraph(const Tree& node, const WrapperRow& row) : node_(node), row_(row) {
    const Tree::List& inputs = list_of(field(node, "inputs"), "inputs");
    if (inputs.size() <= row.graph) file_error(text_of(node, "target") + " has no graph");
    if (row.switched_off) {
      const UnionValue flag = union_of(field(inputs[*row.switched_off], "arg"), "enabled");
      if (!flag.value.is_bool() || flag.value.as_bool())
        unsupported_error(
            "the model runs under torch.autocast; export it without, in the precision "
            "that it shall have");
    }
    const UnionValue argument = union_of(field(inputs[row.graph], "arg"), "a graph");
    prefix_ = text_of(argument.value, "name") + ".";
    graph_ = &field(argument.value, "graph");
  }

  const Tree& graph() const { return *graph_; }
  const Names& names() const { return names_; }

  /// Maps every name of the inner graph to one of the outer.
  void name_values() {
    const Tree::List& inputs = list_of(field(node_, "inputs"), "inputs");
    const Tree::List& inner = list_of(field(*graph_, "inputs"), "inputs");
    if (inner.size() + row_.graph + 1 != inputs.size())
      file_error("a graph within the graph has other inputs than its node");
    for (std::size_t i = 0; i < inner.size(); ++i) {
      const std::string name = name_of(inner[i]);
      const std::string outer = name_of(field(inputs[row_.graph + 1 + i], "arg"));
      if (name.empty()) continue;
      if (outer.empty()) unsupported_error("a graph within the graph takes a constant as input");
      names_.emplace(name, outer);
    }
    const Tree::List& results = list_of(field(*graph_, "outputs"), "outputs");
    const Tree::List& outputs = list_of(field(node_, "outputs"), "outputs");
    std::vector<std::string> outer;
    for (const Tree& output : outputs) collect(output, outer);
    for (std::size_t i = 0; i < results.size() && i < outer.size(); ++i) {
      const std::string name = name_of(results[i]);
      if (!name.empty() && !names_.emplace(name, outer[i]).second)
        unsupported_error("a graph within the graph returns its input, or a value twice");
    }
    for (const Tree& node : list_of(field(*graph_, "nodes"), "nodes"))
      for (const Tree& output : list_of(field(node, "outputs"), "outputs")) {
        std::vector<std::string> own;
        collect(output, own);
        for (const std::string& name : own) names_.emplace(name, prefix_ + name);
      }
  }

 private:
  static void collect(const Tree& value, std::vector<std::string>& names) {
    const UnionValue one = union_of(value, "an output");
    if (!one.value.is_list()) {
      if (const std::string name = name_of(value); !name.empty()) names.push_back(name);
      return;
    }
    for (const Tree& item : one.value.as_list())
      if (const Tree* name = item.find("name"); name && name->is_string())
        names.push_back(name->as_string());
  }

  const Tree& node_;
  const WrapperRow& row_;
  std::string prefix_;
  const Tree* graph_ = nullptr;
  Names names_;
};

Tree renamed_node(const Tree& node, const Names& names) {
  Tree copy = node;
  Tree inputs = Tree::list();
  for (const Tree& input : list_of(field(node, "inputs"), "inputs")) {
    Tree one = input;
    one["arg"] = renamed(field(input, "arg"), names);
    inputs.push_back(std::move(one));
  }
  copy["inputs"] = std::move(inputs);
  copy["outputs"] = renamed(field(node, "outputs"), names);
  return copy;
}

Tree renamed_values(const Tree& values, const Names& names) {
  Tree result = Tree::dict();
  for (const auto& [name, value] : dict_of(values, "tensor_values")) {
    const auto found = names.find(name);
    if (found != names.end()) result[found->second] = value;
  }
  return result;
}

}  // namespace

std::optional<Tree> inner_graph(const Tree& node) {
  const std::string target = text_of(node, "target");
  const auto* row = std::ranges::find(wrapper_rows, target, &WrapperRow::target);
  if (row == std::end(wrapper_rows)) return std::nullopt;
  InnerGraph inner(node, *row);
  inner.name_values();
  Tree graph = Tree::dict(), nodes = Tree::list();
  for (const Tree& one : list_of(field(inner.graph(), "nodes"), "nodes"))
    nodes.push_back(renamed_node(one, inner.names()));
  graph["nodes"] = std::move(nodes);
  for (const char* key : {"tensor_values", "sym_int_values"})
    graph[key] = renamed_values(field(inner.graph(), key), inner.names());
  return graph;
}

}  // namespace mase::pt2
