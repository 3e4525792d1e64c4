// SPDX-License-Identifier: Apache-2.0
// Goes backwards to find results that reach only softmaxes, then forwards for those with masks.
#include "ir/masks.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <vector>

#include "ir/dimension_map.hpp"

namespace mase::ir {
namespace {

std::string op_of(const Graph& graph, const Node& node) {
  return std::string(plain_op(classify(graph, node).op));
}

bool only_moves(const Graph& graph, const Node& node) {
  return node.op == "mase::identity" || only_moves(classify(graph, node).family());
}

bool refers_to(const Value& value, NodeId id) {
  bool found = false;
  value.for_each_node([&](NodeId other) { found = found || other == id; });
  return found;
}

bool is_positive(double number) { return number > 0; }

/// True when `is` holds for any number of a constant, or for all of them.
template <class Is>
bool any_of(const Array& tensor, Is is) {
  return tensor.dtype() == DType::float32 && std::ranges::any_of(tensor.span<float>(), is);
}
template <class Is>
bool all_of(const Array& tensor, Is is) {
  return tensor.dtype() == DType::float32 && std::ranges::all_of(tensor.span<float>(), is);
}

/// The tensor that an argument reads; null when the argument is not a constant.
const Array* constant_of(const Graph& graph, const Value& value) {
  if (!value.is_node() || graph.node(value.node()).kind != NodeKind::get_attr) return nullptr;
  return &graph.tensors.at(graph.node(value.node()).target).value;
}

/// True when an argument is a constant (a number or a tensor) and `is` holds for all its elements.
/// A computed number, such as the root of a size, is taken to be positive.
template <class Is>
bool is_all(const Graph& graph, const Node& node, std::string_view argument, Is is) {
  const Value* value = node.find(argument);
  if (!value) return false;
  if (value->is_number()) return is(value->as_double());
  if (const Array* tensor = constant_of(graph, *value)) return all_of(*tensor, is);
  return value->is_node() && !graph.node(value->node()).info.is_tensor() && is(1.0);
}

bool is_positive_or_absent(const Node& node, std::string_view argument) {
  const Value* value = node.find(argument);
  return !value || (value->is_number() && is_positive(value->as_double()));
}

/// An op whose result has masks when one of these arguments has them.
struct Carrier {
  std::string_view op;
  std::vector<std::string_view> arguments;
  /// True when this node passes on the masks of an argument (numbers at or below a bound); an empty
  /// function stands for true.
  std::function<bool(const Graph&, const Node&, std::string_view, double)> holds = {};
};

bool keeps_sign(const Graph&, const Node& node, std::string_view, double) {
  return is_positive_or_absent(node, "alpha");
}

/// True for the argument of a difference from which the other one is subtracted.
bool is_minuend(const Graph&, const Node& node, std::string_view argument, double) {
  return argument == (base_op(node.op) == "aten::rsub" ? "other" : "self");
}

bool keeps_summand(const Graph&, const Node& node, std::string_view, double) {
  return is_positive_or_absent(node, "beta");
}

bool has_positive_factor(const Graph& graph, const Node& node, std::string_view argument, double) {
  return is_all(graph, node, argument == "self" ? "other" : "self", is_positive);
}

auto is_mask(double bound) {
  return [bound](double number) { return number <= bound; };
}

bool clamps_to_masks(const Graph& graph, const Node& node, std::string_view, double bound) {
  const Value* least = node.find("min");
  return !least || least->is_none() || is_all(graph, node, "min", is_mask(bound));
}

bool has_masks_beside(const Graph& graph, const Node& node, std::string_view argument,
                      double bound) {
  return is_all(graph, node, argument == "self" ? "other" : "self", is_mask(bound));
}

const std::vector<Carrier>& carriers() {
  static const std::vector<Carrier> rows{
      {"add", {"self", "other"}, keeps_sign},
      {"sub", {"self", "other"}, is_minuend},
      {"addmm", {"self"}, keeps_summand},
      {"baddbmm", {"self"}, keeps_summand},
      {"mul", {"self", "other"}, has_positive_factor},
      {"div", {"self"}, has_positive_factor},
      {"where", {"self", "other"}},
      {"masked_fill", {"self", "value"}},
      {"clamp", {"self"}, clamps_to_masks},
      {"clamp_min", {"self"}, clamps_to_masks},
      {"maximum", {"self", "other"}, has_masks_beside},
      {"max", {"self", "other"}, has_masks_beside},
      {"cat", {"tensors"}},
      {"stack", {"tensors"}},
  };
  return rows;
}

class Finder {
 public:
  Finder(const Graph& graph, double bound) : graph_(graph), bound_(bound) {
    for (const NodeId id : graph.order())
      for (const NodeId input : graph.inputs(id)) users_[input].push_back(id);
  }

  std::set<NodeId> find() {
    const auto& order = graph_.order();
    for (auto id = order.rbegin(); id != order.rend(); ++id)
      if (hides_only(*id)) reaching_.insert(*id);
    for (const NodeId id : order)
      if (reaching_.contains(id) && can_hold(graph_.node(id))) found_.insert(id);
    return std::move(found_);
  }

 private:
  /// Graph::users walks over all nodes at each call.
  const std::vector<NodeId>& users_of(NodeId id) const {
    static const std::vector<NodeId> none;
    const auto found = users_.find(id);
    return found == users_.end() ? none : found->second;
  }

  /// True when a result is read, and only by softmaxes and by nodes that pass its masks on to
  /// softmaxes.
  bool hides_only(NodeId id) const {
    bool read = false;
    for (const NodeId user : users_of(id)) {
      const Node& reader = graph_.node(user);
      if (classify(graph_, reader).family() == OpFamily::size) continue;
      if (!passes_on(reader, id)) return false;
      read = true;
    }
    return read;
  }

  /// True when the masks of this argument are masks of the node's result too.
  bool carries(const Node& node, std::string_view argument) const {
    const auto row = std::ranges::find(carriers(), op_of(graph_, node), &Carrier::op);
    if (row == carriers().end())
      return only_moves(graph_, node) && node.args.front().name == argument;
    return std::ranges::find(row->arguments, argument) != row->arguments.end() &&
           (!row->holds || row->holds(graph_, node, argument, bound_));
  }

  bool passes_on(const Node& reader, NodeId id) const {
    if (op_of(graph_, reader) == "softmax") return refers_to(reader.args.front().value, id);
    if (!reaching_.contains(reader.id)) return false;
    return std::ranges::all_of(reader.args, [&](const Argument& argument) {
      return !refers_to(argument.value, id) || carries(reader, argument.name);
    });
  }

  bool can_hold(const Node& node) const {
    if (node.kind == NodeKind::get_attr)
      return any_of(graph_.tensors.at(node.target).value, is_mask(bound_));
    if (node.kind == NodeKind::placeholder)
      return node.info.dtype == DType::float32 && added(node.id);
    if (op_of(graph_, node) == "mul" && (is_all(graph_, node, "other", is_mask(bound_)) ||
                                         is_all(graph_, node, "self", is_mask(bound_))))
      return true;
    return std::ranges::any_of(node.args, [&](const Argument& argument) {
      return carries(node, argument.name) && holds(argument.value);
    });
  }

  bool holds(const Value& value) const {
    if (value.is_number()) return value.as_double() <= bound_;
    bool found = false;
    value.for_each_node([&](NodeId id) { found = found || found_.contains(id); });
    return found;
  }

  /// True when a result is added to something, directly or after ops that only move elements.
  bool added(NodeId id) const {
    return std::ranges::any_of(users_of(id), [&](NodeId user) {
      const Node& reader = graph_.node(user);
      return adds(reader, id) || (only_moves(graph_, reader) && added(user));
    });
  }

  bool adds(const Node& reader, NodeId id) const {
    constexpr std::array sums{"add", "sub", "addmm", "baddbmm"};
    if (std::ranges::find(sums, op_of(graph_, reader)) == sums.end()) return false;
    return std::ranges::any_of(reader.args, [&](const Argument& argument) {
      return refers_to(argument.value, id) && carries(reader, argument.name);
    });
  }

  const Graph& graph_;
  const double bound_;
  std::map<NodeId, std::vector<NodeId>> users_;
  std::set<NodeId> reaching_, found_;
};

}  // namespace

Masks::Masks(const Graph& graph, double bound) : results_(Finder(graph, bound).find()) {}

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
