// SPDX-License-Identifier: Apache-2.0
// Rules of ops: which of them give equal rows, and which give the numbers of rows.
#include <algorithm>

#include "passes/constants/constant_nodes.hpp"
#include "passes/constants/like_read.hpp"

namespace mase::passes {

using Kind = ir::Value::Kind;

Constancy ConstantNodes::judge_rows(const ir::Node& node) const {
  const ir::ValueInfo& info = node.info;
  const bool has_rows = info.is_tensor() && !info.shape.empty() &&
                        info.shape.front() == powers_.batch() &&
                        powers_.of(node.id).front() == Power(1);
  if (!has_rows) return Constancy::varies;
  if (is_numbered(node)) return Constancy::numbers;
  return has_equal_rows(node, ir::classify(graph_, node)) ? Constancy::rows : Constancy::varies;
}

/// True for arange(batch), also with dimensions of 1 added at the end.
bool ConstantNodes::is_numbered(const ir::Node& node) const {
  const ir::Value* end = node.find("end");
  if (ir::base_op(node.op) == "aten::arange")
    return end && is_batch(*end) && !node.find("start") && !node.find("step");
  return of(graph_.inputs(node.id).front()) == Constancy::numbers && keeps_rows(node);
}

bool ConstantNodes::has_equal_rows(const ir::Node& node, const ir::Classified& what) const {
  if (is_chosen_by_number(node)) return true;
  const std::vector<ir::NodeId> inputs = graph_.inputs(node.id);
  if (std::ranges::any_of(inputs, [&](ir::NodeId id) { return of(id) == Constancy::numbers; }))
    return false;
  switch (what.family()) {
    using enum ir::OpFamily;
    case expand:
      return is_repeated(node, "size");
    case movement:
      return what.op == "repeat" ? is_repeated(node, "repeats") : keeps_rows(node);
    case reshape:
      return keeps_rows(node);
    case scan:
      return is_along_others(node, 0);
    case difference:
      return is_along_others(node, -1);
    case creation:
      return is_created(node);
    case embedding:
      return is_looked_up(node);
    case copy:
      return is_copied(node);
    case unary:  // functions of floats may round differently by place in memory
      return what.op == "invert" && is_elementwise(node);
    case elementwise:
      return what.op != "pow" && is_elementwise(node);
    case linear:
    case convolution:
    case transposed_convolution:
    case matrix_product:
    case added_product:
    case contraction:
    case attention:
    case attention_layer:
    case recurrent:
    case recurrent_layer:
    case recurrent_cell:
    case batch_norm:
    case instance_norm:
    case group_norm:
    case layer_norm:
    case pooling:
    case adaptive_pooling:
    case resampling:
    case channel_activation:
    case softmax:
    case reduction:
    case arg_reduction:
    case transpose:
    case permute:
    case pad:
    case concatenation:
    case size:
    case host_value:
    case custom:
    case other:
      break;
  }
  return false;
}

/// True for one copy per sample of the batch; equal rows may expand along other dimensions too.
bool ConstantNodes::is_repeated(const ir::Node& node, std::string_view times) const {
  const ir::Value* self = node.find("self");
  const ir::Value::List* counts = ir::items_of(node.find(times));
  if (!self || !self->is_node() || !counts || counts->empty()) return false;
  const bool others = std::all_of(counts->begin() + 1, counts->end(),
                                  [&](const ir::Value& v) { return is_fixed(v); });
  if (is_fixed(*self))
    return others && is_batch(counts->front()) && has_one_row(self->node(), counts->size());
  const bool same_rank = graph_.node(self->node()).info.shape.size() == counts->size();
  const bool kept = counts->front() == ir::Value(-1) || is_batch(counts->front());
  return others && times == "size" && is_rows(*self) && same_rank && kept;
}

/// True for an unsqueeze after the rows, and for an index (numbers, slices) that takes all rows.
bool ConstantNodes::keeps_rows(const ir::Node& node) const {
  const bool takes_fixed = node.op == "mase::getitem" && is_fixed(*node.find("index"));
  if (!takes_fixed && ir::base_op(node.op) != "aten::unsqueeze") return false;
  const auto map = ir::dimension_map(graph_, node);
  return map && !map->empty() && map->front() == ir::ResultDimension{0};
}

/// True for a running sum or differences within rows, not from row to row, that read only rows.
bool ConstantNodes::is_along_others(const ir::Node& node, std::int64_t otherwise) const {
  const std::vector<ir::NodeId> inputs = graph_.inputs(node.id);
  const auto dim = ir::named_dimension(graph_, node, "dim", node.info.shape.size(), otherwise);
  return dim > std::size_t{0} &&
         std::ranges::all_of(inputs, [&](ir::NodeId id) { return is_rows(ir::NodeRef{id}); });
}

/// True for rows[numbers, i, ...], which takes the same elements of each row.
bool ConstantNodes::is_chosen_by_number(const ir::Node& node) const {
  const ir::Value *value = node.find("value"), *index = node.find("index");
  if (node.op != "mase::getitem" || !is_rows(*value)) return false;
  if (index->kind() != Kind::tuple || index->items().empty()) return false;
  const ir::Value& first = index->items().front();
  if (!first.is_node() || of(first.node()) != Constancy::numbers) return false;
  const std::size_t rank = graph_.node(first.node()).info.shape.size();
  return std::all_of(index->items().begin() + 1, index->items().end(), [&](const ir::Value& other) {
    if (!other.is_node()) return is_fixed(other);
    return is_fixed(other) && has_one_row(other.node(), rank);
  });
}

/// True for zeros, ones and full with the shape [batch, ...].
bool ConstantNodes::is_created(const ir::Node& node) const {
  const ir::Value::List* sizes = ir::items_of(node.find("size"));
  if (!sizes || sizes->empty() || !is_batch(sizes->front())) return false;
  const auto fixed = [&](const ir::Value& value) { return is_fixed(value); };
  const auto like = like_read(node);
  return std::all_of(sizes->begin() + 1, sizes->end(), fixed) &&
         std::ranges::all_of(node.args, [&](const ir::Argument& argument) {
           const bool type_alone = like && argument.name == like->argument;
           return argument.name == "size" || type_alone || fixed(argument.value);
         });
}

bool ConstantNodes::is_looked_up(const ir::Node& node) const {
  return std::ranges::all_of(node.args, [&](const ir::Argument& argument) {
    return argument.name == "indices" ? is_rows(argument.value) : is_fixed(argument.value);
  });
}

bool ConstantNodes::is_copied(const ir::Node& node) const {
  return is_rows(ir::NodeRef{graph_.inputs(node.id).front()}) &&
         std::ranges::all_of(graph_.inputs(node.id),
                             [&](ir::NodeId id) { return !is_batch(ir::NodeRef{id}); });
}

/// True when rows meet only rows, or values that are the same for all of them.
bool ConstantNodes::is_elementwise(const ir::Node& node) const {
  const std::size_t rank = node.info.shape.size();
  return std::ranges::all_of(graph_.inputs(node.id), [&](ir::NodeId id) {
    const ir::ValueInfo& info = graph_.node(id).info;
    if (of(id) == Constancy::rows) return info.is_tensor() && info.shape.size() == rank;
    return !info.is_tensor() || has_one_row(id, rank);
  });
}

}  // namespace mase::passes
