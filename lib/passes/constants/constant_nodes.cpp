// SPDX-License-Identifier: Apache-2.0
// One sweep over the nodes judges sizes by their powers of the batch, other nodes by their inputs.
#include "passes/constants/constant_nodes.hpp"

#include <algorithm>

#include "passes/constants/like_read.hpp"

namespace mase::passes {
namespace {

using Kind = ir::Value::Kind;

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
  const bool has_rows = has(Constancy::rows) || has(Constancy::numbers);
  if (const auto like = like_read(node); like && like->shape)
    return has_rows ? Constancy::varies : judge_shape(like->tensor);
  return has_rows ? judge_rows(node) : Constancy::fixed;
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

bool ConstantNodes::is_stored(const std::string& path) const {
  return parameters_ || !graph_.tensors.at(path).requires_grad;
}

/// True when a node returns the same result for the same arguments and does not change them.
bool ConstantNodes::is_pure(const ir::Node& node, const ir::Classified& what) const {
  if (!is_function(node) || what.op == "dropout" || is_own_world(what.family())) return false;
  if (asks_for_training(node.args)) return false;
  if (node.kind != ir::NodeKind::call_module) return true;
  const ir::Module& module = graph_.module_of(node);
  return !asks_for_training(module.attributes) &&
         std::ranges::all_of(module.tensors,
                             [&](const auto& entry) { return is_stored(entry.second); });
}

bool ConstantNodes::makes_rows(const ir::Node& node) const {
  const ir::Classified what = ir::classify(graph_, node);
  const bool repeats = what.family() == ir::OpFamily::expand || what.op == "repeat";
  return repeats && of(node.id) == Constancy::rows && is_fixed(*node.find("self"));
}

/// True for fixed values; these include constants, and containers of fixed values.
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
         graph_.node(value.node()).info.is_number();
}

/// True when a tensor is the same for every row of a tensor of the given rank.
bool ConstantNodes::has_one_row(ir::NodeId id, std::size_t rank) const {
  const Shape& shape = graph_.node(id).info.shape;
  return shape.size() < rank || shape.empty() || shape.front() == 1;
}

}  // namespace mase::passes
