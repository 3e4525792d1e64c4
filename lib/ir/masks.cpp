// SPDX-License-Identifier: Apache-2.0
// Backwards: what reaches softmaxes alone. Then forwards: which of it can hold masks.
#include "ir/masks.hpp"

#include <algorithm>

#include "ir/op_table.hpp"

namespace mase::ir {
namespace {

std::string op_of(const Graph& graph, const Node& node) {
  std::string op = classify(graph, node).op;
  if (op.ends_with('_')) op.pop_back();
  return op;
}

bool only_moves(const Graph& graph, const Node& node) {
  if (node.op == "mase::identity") return true;
  switch (classify(graph, node).family()) {
    using enum OpFamily;
    case copy:
    case reshape:
    case transpose:
    case permute:
    case expand:
    case movement:
      return true;
    default:
      return false;
  }
}

bool is_node(const Value* value, NodeId id) {
  return value && value->is_node() && value->node() == id;
}

bool is_mask(double number) { return number <= mask_bound; }

bool any_mask(const Array& tensor) {
  if (tensor.dtype() != DType::float32) return false;
  return std::ranges::any_of(tensor.span<float>(), is_mask);
}

class Finder {
 public:
  explicit Finder(const Graph& graph) : graph_(graph) {}

  std::set<NodeId> find() {
    const auto& order = graph_.order();
    for (auto id = order.rbegin(); id != order.rend(); ++id)
      if (hides_only(*id)) reaching_.insert(*id);
    for (const NodeId id : order)
      if (reaching_.contains(id) && can_hold(graph_.node(id))) found_.insert(id);
    return std::move(found_);
  }

 private:
  /// Whether a result is read by softmaxes and by what passes its masks on to them, and by nothing
  /// else.
  bool hides_only(NodeId id) const {
    bool read = false;
    for (const NodeId user : graph_.users(id)) {
      const Node& reader = graph_.node(user);
      if (classify(graph_, reader).family() == OpFamily::size) continue;
      if (!passes_on(reader, id)) return false;
      read = true;
    }
    return read;
  }

  bool passes_on(const Node& reader, NodeId id) const {
    const std::string op = op_of(graph_, reader);
    if (op == "softmax") return is_node(&reader.args.front().value, id);
    if (!reaching_.contains(reader.id)) return false;
    if (op == "add") return reader.find("alpha") == nullptr;
    if (op == "where") return !is_node(reader.find("condition"), id);
    if (op == "masked_fill") return !is_node(reader.find("mask"), id);
    return only_moves(graph_, reader) && is_node(&reader.args.front().value, id);
  }

  bool can_hold(const Node& node) const {
    if (node.kind == NodeKind::get_attr) return any_mask(graph_.tensors.at(node.target).value);
    if (node.kind == NodeKind::placeholder)
      return node.info.dtype == DType::float32 && added(node.id);
    const std::string op = op_of(graph_, node);
    if (op == "mul") return is_constant_mask(node, "other") || is_constant_mask(node, "self");
    const auto holds = [&](const Argument& argument) {
      return argument.value.is_node() ? found_.contains(argument.value.node())
                                      : is_constant_mask(node, argument.name);
    };
    return std::ranges::any_of(node.args, holds);
  }

  /// Whether a result is moved to an addition.
  bool added(NodeId id) const {
    return std::ranges::any_of(graph_.users(id), [&](NodeId user) {
      const Node& reader = graph_.node(user);
      return op_of(graph_, reader) == "add" || (only_moves(graph_, reader) && added(user));
    });
  }

  bool is_constant_mask(const Node& node, std::string_view argument) const {
    const Value* value = node.find(argument);
    if (!value) return false;
    if (value->kind() == Value::Kind::number) return is_mask(value->as_double());
    if (!value->is_node() || graph_.node(value->node()).kind != NodeKind::get_attr) return false;
    return any_mask(graph_.tensors.at(graph_.node(value->node()).target).value);
  }

  const Graph& graph_;
  std::set<NodeId> reaching_, found_;
};

}  // namespace

Masks::Masks(const Graph& graph) : results_(Finder(graph).find()) {}

bool Masks::in(const Value& value) const {
  bool found = false;
  value.for_each_node([&](NodeId id) { found = found || in(id); });
  return found;
}

bool Masks::hide(const Node& node) const {
  return base_op(node.op) == "aten::softmax" && node.formats.contains("data_in") &&
         !node.args.empty() && in(node.args.front().value);
}

}  // namespace mase::ir
