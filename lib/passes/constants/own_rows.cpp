// SPDX-License-Identifier: Apache-2.0
// Index tensors lose their first dimension, which is 1 where the row numbers have the batch.
#include "passes/constants/own_rows.hpp"

#include <algorithm>

#include "passes/rewriting/node_writer.hpp"

namespace mase::passes {
namespace {

using Kind = ir::Value::Kind;

class OwnRows {
 public:
  OwnRows(ir::Graph& graph, const ConstantNodes& constants, const BatchPowers& powers)
      : graph_(graph), constants_(constants), powers_(powers) {}

  bool take() {
    bool found = false;
    const std::vector<ir::NodeId> order = graph_.order();
    for (const ir::NodeId id : order) {
      if (!is_chosen(graph_.node(id))) continue;
      take_rows(id);
      found = true;
    }
    return found;
  }

 private:
  /// True when a node takes every row of a batch by its number, and the same elements of each.
  bool is_chosen(const ir::Node& node) const {
    const ir::Value *value = node.find("value"), *index = node.find("index");
    if (node.op != "mase::getitem" || !value->is_node() || index->kind() != Kind::tuple)
      return false;
    const ir::ValueInfo& info = graph_.node(value->node()).info;
    const ir::Value::List& items = index->items();
    if (!info.is_tensor() || info.shape.empty() || items.size() < 2 || !items.front().is_node())
      return false;
    return info.shape.front() == powers_.batch() && has_rows(value->node()) &&
           constants_.of(items.front().node()) == Constancy::numbers &&
           std::all_of(items.begin() + 1, items.end(),
                       [&](const ir::Value& item) {
                         return item.kind() == Kind::integer ||
                                is_one_row(item, rank_of(items.front()));
                       }) &&
           keeps_dims(items);
  }

  /// True when the tensors, if any, have all dimensions of the result except the rows.
  bool keeps_dims(const ir::Value::List& items) const {
    std::size_t most = 0;
    for (auto item = items.begin() + 1; item != items.end(); ++item)
      if (item->is_node()) most = std::max(most, rank_of(*item));
    return !has_tensor({items.begin() + 1, items.end()}) || most + 1 >= rank_of(items.front());
  }

  /// True when the first dimension is the batch, or the single row in its place in a model that was
  /// traced with one sample.
  bool has_rows(ir::NodeId id) const {
    const Constancy constancy = constants_.of(id);
    if (constancy == Constancy::fixed) return powers_.batch() == 1;
    return constancy == Constancy::varies && powers_.of(id).front() == Power(1);
  }

  std::size_t rank_of(const ir::Value& value) const {
    return graph_.node(value.node()).info.shape.size();
  }

  bool is_one_row(const ir::Value& item, std::size_t rank) const {
    if (!item.is_node() || constants_.of(item.node()) != Constancy::fixed) return false;
    const Shape& shape = graph_.node(item.node()).info.shape;
    return shape.size() < rank || (shape.size() == rank && shape.front() == 1);
  }

  void take_rows(ir::NodeId id) {
    const ir::Value::List before = graph_.node(id).find("index")->items();
    const std::size_t rank = rank_of(before.front());
    ir::Value::List items{ir::Value::slice({}, {}, {})};
    for (auto item = before.begin() + 1; item != before.end(); ++item)
      items.push_back(item->is_node() && rank_of(*item) == rank ? first_of(item->node(), id)
                                                                : *item);
    // Plain numbers leave the dimensions of the row numbers in the result.
    for (std::size_t d = 1; d < rank && !has_tensor(items); ++d) items.emplace_back();
    *graph_.node(id).find("index") = ir::Value::tuple(std::move(items));
  }

  bool has_tensor(const ir::Value::List& items) const {
    return std::ranges::any_of(items, [](const ir::Value& item) { return item.is_node(); });
  }

  /// Adds tensor[0] in front of the reader.
  ir::Value first_of(ir::NodeId tensor, ir::NodeId reader) {
    const ir::ValueInfo& info = graph_.node(tensor).info;
    NodeWriter writer(graph_, reader, info.dtype);
    writer.begin(graph_.node(tensor).name);
    return NodeWriter::ref(writer.call("mase::getitem", "row",
                                       {{"value", NodeWriter::ref(tensor)}, {"index", 0}},
                                       Shape(info.shape.begin() + 1, info.shape.end())));
  }

  ir::Graph& graph_;
  const ConstantNodes& constants_;
  const BatchPowers& powers_;
};

}  // namespace

bool take_own_rows(ir::Graph& graph, const ConstantNodes& constants, const BatchPowers& powers) {
  return OwnRows(graph, constants, powers).take();
}

}  // namespace mase::passes
