// SPDX-License-Identifier: Apache-2.0
// One sweep; a rule per family.
#include "passes/constants/memory_order.hpp"

#include <algorithm>

#include "ir/op_table.hpp"
#include "passes/constants/constant_nodes.hpp"
#include "passes/constants/like_read.hpp"
#include "passes/constants/permutation.hpp"
#include "passes/constants/strides.hpp"

namespace mase::passes {
namespace {

using enum MemoryOrder;
using Kind = ir::Value::Kind;

bool has_one_long_dimension(const Shape& shape) {
  return std::ranges::count_if(shape, [](std::int64_t size) { return size != 1; }) <= 1;
}

/// Where slices make a part smaller behind a dimension that has several places, gaps are left.
/// `at` counts the input's dimensions, `places` the product of those before.
MemoryOrder sliced(const ir::Node& node, const ir::ValueInfo& from) {
  const ir::Value* index = node.find("index");
  if (!from.is_tensor() || !index) return gaps;
  const ir::Value::List single{*index};
  std::size_t at = 0, shown = 0;
  std::int64_t places = 1;
  for (const ir::Value& choice : index->kind() == Kind::tuple ? index->items() : single) {
    if (choice.is_none()) {
      ++shown;
      continue;
    }
    const bool slice = choice.kind() == Kind::slice;
    if (!slice && choice.kind() != Kind::integer) return permuted;
    const std::int64_t size = slice ? node.info.shape.at(shown++) : 1;
    if (slice && !choice.items()[2].is_none() && !(choice.items()[2] == ir::Value(1))) return gaps;
    if (size != from.shape.at(at++) && places != 1) return gaps;
    places *= size;
  }
  return dense;
}

class Sweep {
 public:
  explicit Sweep(const ir::Graph& graph) : graph_(graph) {
    for (const ir::NodeId id : graph.order()) orders_.emplace(id, find(graph.node(id)));
  }
  std::map<ir::NodeId, MemoryOrder> take() { return std::move(orders_); }

 private:
  MemoryOrder find(const ir::Node& node) const {
    if (node.kind == ir::NodeKind::get_attr) return dense;
    if (node.kind == ir::NodeKind::placeholder || node.kind == ir::NodeKind::output)
      return permuted;
    const MemoryOrder from = worst_input(node);
    const ir::Classified what = ir::classify(graph_, node);
    if (is_plain_function(node.op)) {
      const bool any = is_logical(node.op) || ir::base_op(node.op) == "aten::diff";
      return from < (any ? permuted : repeated) ? dense : permuted;
    }
    return rule(node, what, from);
  }

  MemoryOrder rule(const ir::Node& node, const ir::Classified& what, MemoryOrder from) const {
    using enum ir::OpFamily;
    switch (what.family()) {
      case creation:
      case embedding:
        return dense;  // of memory of their own
      case unary:
      case elementwise:
      case scan:
        return from == permuted ? permuted : dense;  // likewise, in the order of what they read
      case softmax:
      case reduction:
        return from < repeated ? dense : permuted;
      case linear:
      case layer_norm:
        return from == dense ? dense : permuted;
      case matrix_product:
        return has_equal_ranks(node) ? dense : permuted;  // others may be products of transposes
      case concatenation:                                 // images may have their channels last
        return from >= repeated && node.info.shape.size() > 3 ? permuted : dense;
      case reshape:
        return from == permuted && is_copied(node, what.op) ? dense : from;
      case copy:
        return what.op == "contiguous" ? dense : from;
      case expand:
        return from == permuted ? permuted : repeated;
      case transpose:
      case permute:
        return from == dense && has_one_long_dimension(node.info.shape) ? dense : permuted;
      case movement:
        return moved(node, what.op, from);
      default:
        return permuted;
    }
  }

  MemoryOrder moved(const ir::Node& node, const std::string& op, MemoryOrder from) const {
    if (op == "repeat") return dense;
    if (from == permuted) return permuted;
    if (op == "getitem" && node.info.is_tensor()) return chosen(node, from);
    if (from == repeated) return permuted;
    if (op == "triu" || op == "tril" || op == "stack") return dense;
    const bool part = op == "chunk" || op == "split" || op == "slice" || op == "select";
    return part ? gaps : permuted;
  }

  /// Tensors in front choose elements into memory of its own, in the order of what they read.
  MemoryOrder chosen(const ir::Node& node, MemoryOrder from) const {
    const ir::Value* index = node.find("index");
    if (index && index->kind() == Kind::tuple && is_led_by_tensors(index->items())) return dense;
    const MemoryOrder order = sliced(node, graph_.node(graph_.inputs(node.id).front()).info);
    return order == permuted ? permuted : std::max(order, from);
  }

  bool is_led_by_tensors(const ir::Value::List& choices) const {
    const auto is_tensor = [&](const ir::Value& choice) {
      return choice.is_node() && graph_.node(choice.node()).info.is_tensor();
    };
    const auto rest = std::ranges::find_if_not(choices, is_tensor);
    return rest != choices.begin() && std::none_of(rest, choices.end(), is_tensor);
  }

  bool has_equal_ranks(const ir::Node& node) const {
    return std::ranges::all_of(graph_.inputs(node.id), [&](ir::NodeId id) {
      return graph_.node(id).info.shape.size() == node.info.shape.size();
    });
  }

  /// Whether the new shape cannot be a view, so that the elements are put in order.
  bool is_copied(const ir::Node& node, const std::string& op) const {
    if (op != "reshape" && op != "flatten") return false;
    const ir::Node& from = graph_.node(graph_.inputs(node.id).front());
    const auto strides = strides_of(from);
    return strides && !can_view(from.info.shape, *strides, node.info.shape);
  }

  /// Of what is dense, and of its dimensions in another order.
  std::optional<Shape> strides_of(const ir::Node& node) const {
    if (orders_.at(node.id) == dense) return dense_strides(node.info.shape);
    const auto dims = permutation_of(graph_, node);
    if (!dims) return std::nullopt;
    const auto from = strides_of(graph_.node(graph_.inputs(node.id).front()));
    if (!from) return std::nullopt;
    Shape strides;
    for (const std::size_t dim : *dims) strides.push_back(from->at(dim));
    return strides;
  }

  MemoryOrder worst_input(const ir::Node& node) const {
    MemoryOrder worst = dense;
    const auto like = like_read(node);
    for (const ir::NodeId id : graph_.inputs(node.id)) {
      if (like && !like->shape && id == like->tensor) continue;
      const auto kind = graph_.node(id).info.kind;
      const bool numbers = kind == ir::ValueInfo::Kind::integer ||
                           kind == ir::ValueInfo::Kind::number ||
                           kind == ir::ValueInfo::Kind::boolean;
      if (!numbers) worst = std::max(worst, orders_.at(id));
    }
    return worst;
  }

  const ir::Graph& graph_;
  std::map<ir::NodeId, MemoryOrder> orders_;
};

}  // namespace

std::map<ir::NodeId, MemoryOrder> memory_orders(const ir::Graph& graph) {
  return Sweep(graph).take();
}

}  // namespace mase::passes
