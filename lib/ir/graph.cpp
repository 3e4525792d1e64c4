// SPDX-License-Identifier: Apache-2.0
// The graph's node list: adding, removing and rewiring nodes, and who uses whom.
#include "ir/graph.hpp"

#include <algorithm>
#include <ranges>
#include <set>

#include "base/text.hpp"
#include "ir/naming.hpp"

namespace mase::ir {
namespace {

void push_once(std::vector<NodeId>& ids, NodeId id) {
  if (std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
}

bool uses(const Node& node, NodeId id) {
  bool found = false;
  for (const Argument& argument : node.args)
    argument.value.for_each_node([&](NodeId used) { found = found || used == id; });
  return found;
}

// "relu_12" → ("relu", 12); a name without such an ending counts from 0.
std::pair<std::string, std::int64_t> split_counter(const std::string& name) {
  const std::size_t underscore = name.rfind('_');
  if (underscore == std::string::npos || underscore + 1 == name.size()) return {name, 0};
  const std::string_view digits = std::string_view(name).substr(underscore + 1);
  const bool number = std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
  const auto count = number ? parse_int(digits) : std::nullopt;
  // The bound keeps the counter from overflowing on a name made for that purpose.
  if (!count || *count > 1'000'000'000) return {name, 0};
  return {name.substr(0, underscore), *count};
}

}  // namespace

std::string_view kind_name(NodeKind kind) {
  switch (kind) {
    case NodeKind::placeholder:
      return "placeholder";
    case NodeKind::get_attr:
      return "get_attr";
    case NodeKind::call_function:
      return "call_function";
    case NodeKind::call_method:
      return "call_method";
    case NodeKind::call_module:
      return "call_module";
    case NodeKind::output:
      return "output";
  }
  return "?";
}

const Value* Node::find(std::string_view argument) const {
  const auto it = std::ranges::find(args, argument, &Argument::name);
  return it == args.end() ? nullptr : &it->value;
}

Value* Node::find(std::string_view argument) {
  const auto it = std::ranges::find(args, argument, &Argument::name);
  return it == args.end() ? nullptr : &it->value;
}

const Value* Module::attribute(std::string_view name) const {
  const auto it = std::ranges::find(attributes, name, &Argument::name);
  return it == attributes.end() ? nullptr : &it->value;
}

const std::string* Module::tensor(std::string_view argument) const {
  for (const auto& [name, path] : tensors)
    if (name == argument) return &path;
  return nullptr;
}

std::string_view Module::short_class() const {
  const std::string_view name = class_name;
  return name.substr(name.rfind('.') + 1);
}

bool Graph::contains(NodeId id) const {
  return id >= 0 && static_cast<std::size_t>(id) < nodes_.size() &&
         nodes_[static_cast<std::size_t>(id)].id == id;
}

const Node& Graph::node(NodeId id) const {
  MASE_CHECK(contains(id), "no node with id " + std::to_string(id) + " in graph " + name);
  return nodes_[static_cast<std::size_t>(id)];
}

Node& Graph::node(NodeId id) { return const_cast<Node&>(std::as_const(*this).node(id)); }

const Node* Graph::find_node(std::string_view node_name) const {
  const auto it = by_name_.find(node_name);
  return it == by_name_.end() ? nullptr : &node(it->second);
}

std::string Graph::unknown_node(std::string_view node_name) const {
  std::vector<std::string> names;
  for (const NodeId id : order_) names.push_back(node(id).name);
  return "the graph has no node '" + std::string(node_name) + "'" +
         did_you_mean(node_name, names, "; see `mase show MODEL`");
}

std::vector<NodeId> Graph::placeholders() const {
  std::vector<NodeId> found;
  for (NodeId id : order_)
    if (node(id).kind == NodeKind::placeholder) found.push_back(id);
  return found;
}

NodeId Graph::output() const {
  const auto is_output = [&](NodeId id) { return node(id).kind == NodeKind::output; };
  const auto it = std::find_if(order_.rbegin(), order_.rend(), is_output);
  return it == order_.rend() ? no_node : *it;
}

// Counts on from the number at the end of the wanted name, as torch.fx does: relu_1 taken → relu_2.
std::string Graph::unique_name(std::string_view wanted) {
  std::string clean = sanitized_name(wanted);
  if (!by_name_.contains(clean) && !is_reserved_name(clean)) return clean;
  auto [base, count] = split_counter(clean);
  std::int64_t& taken = taken_[base];
  const bool from_taken = count <= taken;
  if (from_taken) count = taken;
  std::string candidate;
  do {
    candidate = base + "_" + std::to_string(++count);
  } while (by_name_.contains(candidate));
  if (from_taken) taken = count - 1;
  return candidate;
}

void Graph::free_name(const std::string& name) {
  by_name_.erase(name);
  const auto [base, count] = split_counter(name);
  const auto found = taken_.find(base);
  if (count > 0 && found != taken_.end()) found->second = std::min(found->second, count - 1);
}

NodeId Graph::add(Node node, NodeId before) {
  const auto place =
      before == no_node ? order_.end() : std::find(order_.begin(), order_.end(), before);
  MASE_CHECK(before == no_node || place != order_.end(), "add: the node to add before is gone");
  const auto id = static_cast<NodeId>(nodes_.size());
  node.id = id;
  node.name = unique_name(node.name.empty() ? wanted_name(node) : node.name);
  by_name_.emplace(node.name, id);
  order_.insert(place, id);
  nodes_.push_back(std::move(node));
  return id;
}

void Graph::replace_uses(NodeId from, NodeId to) {
  for (NodeId id : order_) {
    if (id == to) continue;
    for (Argument& argument : node(id).args) argument.value.replace_node(from, to);
  }
}

void Graph::erase(NodeId id) {
  const std::vector<NodeId> left = users(id);
  MASE_CHECK(left.empty(), "erase: node '" + node(id).name + "' is still used by '" +
                               node(left.front()).name + "'");
  free_name(node(id).name);
  std::erase(order_, id);
  nodes_[static_cast<std::size_t>(id)] = Node{};
}

std::vector<NodeId> Graph::users(NodeId id) const {
  std::vector<NodeId> found;
  for (NodeId user : order_)
    if (uses(node(user), id)) found.push_back(user);
  return found;
}

std::vector<NodeId> Graph::inputs(NodeId id) const {
  std::vector<NodeId> found;
  for (const Argument& argument : node(id).args)
    argument.value.for_each_node([&](NodeId used) { push_once(found, used); });
  return found;
}

// One sweep backwards: a node is dead when nothing live after it uses it.
int Graph::remove_dead_nodes() {
  std::set<NodeId> live;
  std::vector<NodeId> kept;
  int removed = 0;
  for (const NodeId id : std::views::reverse(order_)) {
    const Node& candidate = node(id);
    const bool root = candidate.kind == NodeKind::placeholder || candidate.kind == NodeKind::output;
    if (root || live.contains(id)) {
      for (NodeId used : inputs(id)) live.insert(used);
      kept.push_back(id);
      continue;
    }
    free_name(candidate.name);
    nodes_[static_cast<std::size_t>(id)] = Node{};
    ++removed;
  }
  order_.assign(kept.rbegin(), kept.rend());
  return removed;
}

const Module& Graph::module_of(const Node& node) const {
  MASE_CHECK(node.kind == NodeKind::call_module, "node '" + node.name + "' calls no module");
  const auto it = modules.find(node.target);
  MASE_CHECK(it != modules.end(),
             "node '" + node.name + "' calls the missing module '" + node.target + "'");
  return it->second;
}

const Value* Graph::argument(const Node& node, std::string_view name) const {
  if (const Value* given = node.find(name)) return given;
  return node.kind == NodeKind::call_module ? module_of(node).attribute(name) : nullptr;
}

const std::string* Graph::tensor_of(const Node& node, std::string_view argument) const {
  if (node.kind == NodeKind::call_module)
    if (const std::string* path = module_of(node).tensor(argument)) return path;
  const Value* given = node.find(argument);
  if (!given || !given->is_node()) return nullptr;
  const Node& source = this->node(given->node());
  return source.kind == NodeKind::get_attr ? &source.target : nullptr;
}

const std::string* Graph::tensor_named(const std::string& wanted) const {
  if (const auto found = tensors.find(wanted); found != tensors.end()) return &found->first;
  for (const auto& [path, tensor] : tensors)
    if (std::ranges::find(tensor.other_names, wanted) != tensor.other_names.end()) return &path;
  return nullptr;
}

std::vector<std::string> names_of(const std::string& path, const Tensor& tensor) {
  std::vector<std::string> names{path};
  names.insert(names.end(), tensor.other_names.begin(), tensor.other_names.end());
  return names;
}

std::optional<std::string> name_in_module(const Graph& graph, const std::string& path,
                                          std::string_view owner) {
  for (const std::string& name : names_of(path, graph.tensors.at(path)))
    if (owner_of(name) == owner) return name.substr(owner.empty() ? 0 : owner.size() + 1);
  return std::nullopt;
}

std::string code_stem(const Graph& graph, const std::string& path) {
  const auto taken = [&](const std::string& name) {
    return graph.tensor_named(name) || graph.modules.contains(name) ||
           graph.containers.contains(name);
  };
  std::string stem = path;
  while (taken(stem + "_codes") || taken(stem + "_shared") || taken(stem + "_scales")) stem += '_';
  return stem;
}

void Graph::set_tensor(const std::string& path, Tensor tensor) {
  const auto [it, added] = tensors.insert_or_assign(path, std::move(tensor));
  // A new path can already be in the order only when the order has more entries than tensors.
  const bool listed = tensor_order.size() >= tensors.size() &&
                      std::ranges::find(tensor_order, path) != tensor_order.end();
  if (added && !listed) tensor_order.push_back(path);
}

namespace {

// A tensor of a module that is still called stays even when the operator does not take it
// (num_batches_tracked of a batch norm), because it belongs to the module's state_dict.
bool owned_by_module(const Graph& graph, const std::string& path, const Tensor& tensor) {
  return std::ranges::any_of(names_of(path, tensor), [&](const std::string& name) {
    return graph.modules.contains(std::string(owner_of(name)));
  });
}

}  // namespace

void remove_unused_tensors(Graph& graph) {
  std::set<std::string> called, used;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (node.kind == NodeKind::call_module) called.insert(node.target);
    if (node.kind == NodeKind::get_attr) used.insert(node.target);
    if (node.kind == NodeKind::placeholder)
      for (const auto& [path, tensor] : graph.tensors)
        if (tensor.begins == node.target) used.insert(path);
    if (node.body)
      for (NodeId inner : node.body->order())
        if (node.body->node(inner).kind == NodeKind::get_attr)
          used.insert(node.body->node(inner).target);
  }
  std::erase_if(graph.modules, [&](const auto& entry) { return !called.contains(entry.first); });
  for (const auto& [path, module] : graph.modules)
    for (const auto& [argument, tensor] : module.tensors) used.insert(tensor);
  std::erase_if(graph.tensors, [&](const auto& entry) {
    return !used.contains(entry.first) && !owned_by_module(graph, entry.first, entry.second);
  });
  std::erase_if(graph.tensor_order,
                [&](const std::string& path) { return !graph.tensors.contains(path); });
}

}  // namespace mase::ir
