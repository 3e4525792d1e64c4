// SPDX-License-Identifier: Apache-2.0
// One sweep over the nodes: sizes by their powers of the batch, other nodes by what they read.
#include "passes/constants/constant_nodes.hpp"

#include <algorithm>
#include <array>

#include "passes/constants/like_read.hpp"

namespace mase::passes {
namespace {

using Kind = ir::Value::Kind;

bool is_number(const ir::ValueInfo& info) {
  using enum ir::ValueInfo::Kind;
  return info.kind == integer || info.kind == number || info.kind == boolean;
}

bool asks_for_training(const std::vector<ir::Argument>& arguments) {
  return std::ranges::any_of(arguments, [](const ir::Argument& argument) {
    return argument.value.kind() == Kind::training;
  });
}

bool is_own_world(ir::OpFamily family) {
  using enum ir::OpFamily;
  return family == attention || family == attention_layer || family == recurrent ||
         family == recurrent_layer || family == recurrent_cell || family == custom;
}

}  // namespace

bool is_plain_function(std::string_view op) {
  constexpr std::array<std::string_view, 12> operators{
      "aten::__and__", "aten::__or__", "aten::bitwise_and",   "aten::bitwise_or",
      "aten::eye",     "aten::outer",  "aten::linspace",      "aten::scalar_tensor",
      "aten::fill",    "aten::copy",   "aten::slice_scatter", "aten::select_scatter"};
  return std::ranges::find(operators, ir::base_op(op)) != operators.end();
}

ConstantNodes::ConstantNodes(const ir::Graph& graph, const BatchPowers& powers, bool parameters)
    : graph_(graph), powers_(powers), parameters_(parameters) {
  for (const ir::NodeId id : graph.order()) constancy_.emplace(id, judge(graph.node(id)));
}

Constancy ConstantNodes::judge(const ir::Node& node) const {
  using enum ir::NodeKind;
  if (node.kind == placeholder || node.kind == output || !node.formats.empty())
    return Constancy::varies;
  if (node.kind == get_attr) return is_stored(node.target) ? Constancy::fixed : Constancy::varies;
  if (const auto sizes = size_read(graph_, node)) return judge_sizes(*sizes);
  if (!is_pure(node, ir::classify(graph_, node))) return Constancy::varies;
  const std::vector<ir::NodeId> inputs = values_read(graph_, node);
  const auto has = [&](Constancy constancy) {
    return std::ranges::any_of(inputs, [&](ir::NodeId id) { return of(id) == constancy; });
  };
  if (has(Constancy::varies)) return Constancy::varies;
  if (const auto like = like_read(node); like && like->shape)
    return has(Constancy::rows) ? Constancy::varies : judge_shape(like->tensor);
  return has(Constancy::rows) ? judge_rows(node) : Constancy::fixed;
}

Constancy ConstantNodes::judge_sizes(const SizeRead& read) const {
  const Powers& powers = powers_.of(read.tensor);
  const auto is_fixed = [](const Power& power) { return power == Power(0); };
  if (!read.dim)
    return std::ranges::all_of(powers, is_fixed) ? Constancy::fixed : Constancy::varies;
  if (is_fixed(powers[*read.dim])) return Constancy::fixed;
  const bool is_batch = powers[*read.dim] == Power(1) &&
                        graph_.node(read.tensor).info.shape[*read.dim] == powers_.batch();
  return is_batch ? Constancy::rows : Constancy::varies;
}

Constancy ConstantNodes::judge_shape(ir::NodeId tensor) const {
  const Powers& powers = powers_.of(tensor);
  const auto is_fixed = [](const Power& power) { return power == Power(0); };
  if (std::ranges::all_of(powers, is_fixed)) return Constancy::fixed;
  const bool rows = std::all_of(powers.begin() + 1, powers.end(), is_fixed);
  const Constancy first = judge_sizes({tensor, 0});
  return rows && first == Constancy::rows ? Constancy::rows : Constancy::varies;
}

Constancy ConstantNodes::judge_rows(const ir::Node& node) const {
  const ir::ValueInfo& info = node.info;
  const bool has_rows = info.is_tensor() && !info.shape.empty() &&
                        info.shape.front() == powers_.batch() &&
                        powers_.of(node.id).front() == Power(1);
  return has_rows && has_equal_rows(node, ir::classify(graph_, node)) ? Constancy::rows
                                                                      : Constancy::varies;
}

bool ConstantNodes::is_stored(const std::string& path) const {
  return parameters_ || !graph_.tensors.at(path).requires_grad;
}

/// Whether the same arguments give the same result at every call, and stay as they are.
bool ConstantNodes::is_pure(const ir::Node& node, const ir::Classified& what) const {
  const bool on_host = is_number(node.info) && node.op.starts_with("prim::");
  const bool known = what.row || on_host || is_plain_function(node.op);
  if (!known || what.op == "dropout" || is_own_world(what.family())) return false;
  if (asks_for_training(node.args)) return false;
  if (node.kind != ir::NodeKind::call_module) return true;
  const ir::Module& module = graph_.module_of(node);
  return !asks_for_training(module.attributes) &&
         std::ranges::all_of(module.tensors,
                             [&](const auto& entry) { return is_stored(entry.second); });
}

bool ConstantNodes::has_equal_rows(const ir::Node& node, const ir::Classified& what) const {
  switch (what.family()) {
    case ir::OpFamily::expand:
      return is_repeated(node, "size");
    case ir::OpFamily::movement:
      return what.op == "repeat" && is_repeated(node, "repeats");
    case ir::OpFamily::creation:
      return is_created(node);
    case ir::OpFamily::embedding:
      return is_looked_up(node);
    case ir::OpFamily::copy:
      return is_copied(node);
    case ir::OpFamily::elementwise:
      return what.op != "pow" && is_elementwise(node);
    default:
      return false;
  }
}

/// Once per sample of the batch; tensors of equal rows may be expanded along other dimensions, too.
bool ConstantNodes::is_repeated(const ir::Node& node, std::string_view times) const {
  const ir::Value* self = node.find("self");
  const ir::Value::List* counts = items_of(node.find(times));
  if (!self || !self->is_node() || !counts || counts->empty()) return false;
  const bool others = std::all_of(counts->begin() + 1, counts->end(),
                                  [&](const ir::Value& v) { return is_fixed(v); });
  if (is_fixed(*self))
    return others && is_batch(counts->front()) && has_one_row(self->node(), counts->size());
  const bool same_rank = graph_.node(self->node()).info.shape.size() == counts->size();
  const bool kept = counts->front() == ir::Value(-1) || is_batch(counts->front());
  return others && times == "size" && is_rows(*self) && same_rank && kept;
}

/// zeros, ones, full of [batch, ...].
bool ConstantNodes::is_created(const ir::Node& node) const {
  const ir::Value::List* sizes = items_of(node.find("size"));
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

/// Rows meet rows, or what is the same for all of them.
bool ConstantNodes::is_elementwise(const ir::Node& node) const {
  const std::size_t rank = node.info.shape.size();
  return std::ranges::all_of(graph_.inputs(node.id), [&](ir::NodeId id) {
    const ir::ValueInfo& info = graph_.node(id).info;
    if (of(id) == Constancy::rows) return info.is_tensor() && info.shape.size() == rank;
    return !info.is_tensor() || has_one_row(id, rank);
  });
}

bool ConstantNodes::makes_rows(const ir::Node& node) const {
  const ir::OpFamily family = ir::classify(graph_, node).family();
  const bool repeats = family == ir::OpFamily::expand || family == ir::OpFamily::movement;
  return repeats && of(node.id) == Constancy::rows && is_fixed(*node.find("self"));
}

/// Constants, and containers of such, included.
bool ConstantNodes::is_fixed(const ir::Value& value) const {
  bool fixed = true;
  value.for_each_node([&](ir::NodeId id) { fixed = fixed && of(id) == Constancy::fixed; });
  return fixed;
}

bool ConstantNodes::is_rows(const ir::Value& value) const {
  return value.is_node() && of(value.node()) == Constancy::rows &&
         graph_.node(value.node()).info.is_tensor();
}

bool ConstantNodes::is_batch(const ir::Value& value) const {
  return value.is_node() && of(value.node()) == Constancy::rows &&
         is_number(graph_.node(value.node()).info);
}

/// Whether a tensor is the same for every row of a tensor of the given rank.
bool ConstantNodes::has_one_row(ir::NodeId id, std::size_t rank) const {
  const Shape& shape = graph_.node(id).info.shape;
  return shape.size() < rank || shape.empty() || shape.front() == 1;
}

}  // namespace mase::passes
