// SPDX-License-Identifier: Apache-2.0
// One sweep over the nodes, numbers on the host, and the rule of each family.
#include "passes/constants/batch_powers.hpp"

#include <algorithm>

#include "passes/constants/constant_nodes.hpp"
#include "passes/constants/size_read.hpp"

namespace mase::passes {

using Kind = ir::Value::Kind;

bool is_function(const ir::Node& node) {
  const std::string_view op = ir::base_op(node.op);
  return (op.starts_with("aten::") || op.starts_with("prim::") || op.starts_with("mase::")) &&
         ir::plain_op(op) == op;
}

BatchPowers::BatchPowers(const ir::Graph& graph) : graph_(graph) {
  for (const ir::NodeId id : graph.order()) {
    const ir::Node& node = graph.node(id);
    const bool fixed = has_fixed_values(node);
    if (fixed) fixed_.insert(id);
    Powers found = fixed && node.info.is_tensor() ? Powers(node.info.shape.size(), 0) : find(node);
    const bool fits = !node.info.is_tensor() || found.size() == node.info.shape.size();
    powers_.emplace(id, fits ? std::move(found) : unknown(node));
    if (batch_ == 0 && node.kind == ir::NodeKind::placeholder && !node.info.shape.empty()) {
      batch_ = node.info.shape.front();
      powers_.at(id) = input(node);
    }
  }
}

Powers BatchPowers::find(const ir::Node& node) const {
  if (node.kind == ir::NodeKind::placeholder) return input(node);
  if (node.kind == ir::NodeKind::get_attr) return Powers(node.info.shape.size(), 0);
  if (node.kind == ir::NodeKind::output) return {};
  if (node.info.kind == ir::ValueInfo::Kind::integer) return number(node);
  return tensor(node, ir::classify(graph_, node));
}

bool BatchPowers::has_fixed_values(const ir::Node& node) const {
  if (node.kind == ir::NodeKind::get_attr) return true;
  const bool in_use = node.kind != ir::NodeKind::placeholder && node.kind != ir::NodeKind::output;
  if (!in_use || node.info.is_number() || !is_function(node)) return false;
  return std::ranges::all_of(graph_.inputs(node.id), [&](ir::NodeId id) {
    return fixed_.contains(id) || of_value(ir::NodeRef{id}) == Power(0);
  });
}

Powers BatchPowers::input(const ir::Node& node) const {
  Powers powers(node.info.shape.size(), 0);
  if (!powers.empty()) powers.front() = node.info.shape.front() == batch_ ? Power(1) : Power();
  return powers;
}

/// A size has the power of its dimension, and a product of sizes the sum of their powers. For other
/// numbers the power is known when all their sources are independent of the batch.
Powers BatchPowers::number(const ir::Node& node) const {
  if (const auto read = size_read(graph_, node)) return {of(read->tensor)[*read->dim]};
  if (node.op == "aten::mul.int") {
    const Power a = of_value(node.args.at(0).value), b = of_value(node.args.at(1).value);
    return {a && b ? Power(*a + *b) : Power()};
  }
  const std::vector<ir::NodeId> inputs = graph_.inputs(node.id);
  const bool fixed = std::ranges::all_of(
      inputs, [&](ir::NodeId id) { return of_value(ir::NodeRef{id}) == Power(0); });
  return {fixed ? Power(0) : Power()};
}

Powers BatchPowers::tensor(const ir::Node& node, const ir::Classified& what) const {
  using enum ir::OpFamily;
  switch (what.family()) {
    case linear:
      return rows_of(node, "input");
    case embedding:
      return rows_of(node, "indices");
    case matrix_product:
      return product(node);
    case attention:
      return attended(node);
    case convolution:
    case transposed_convolution:
    case pooling:
    case adaptive_pooling:
    case resampling:
      return first_kept(node);
    case elementwise:
      return broadcast(node);
    case batch_norm:
    case instance_norm:
    case group_norm:
    case layer_norm:
    case unary:
    case channel_activation:
    case softmax:
    case scan:
    case copy:
      return same(node);
    case difference:
      return differences(node);
    case reduction:
    case transpose:
    case permute:
      return mapped(node);
    case reshape:
      return reshaped(node, what.op);
    case expand:
      return expanded(node);
    case pad:
      return padded(node);
    case concatenation:
      return joined(node);
    case movement:
      return chosen(node, what.op);
    case creation:
      return created(node);
    case added_product:
    case contraction:
    case attention_layer:
    case recurrent:
    case recurrent_layer:
    case recurrent_cell:
    case arg_reduction:
    case size:
    case host_value:
    case custom:
    case other:
      break;
  }
  return unknown(node);
}

Powers BatchPowers::unknown(const ir::Node& node) const {
  return Powers(node.info.is_tensor() ? node.info.shape.size() : 0);
}

Powers BatchPowers::of_first(const ir::Node& node) const {
  const std::vector<ir::NodeId> inputs = graph_.inputs(node.id);
  return inputs.empty() ? Powers() : of(inputs.front());
}

/// The power of a number among the arguments, also of one in a tensor.
Power BatchPowers::of_value(const ir::Value& value) const {
  if (value.kind() == Kind::integer) return 0;
  if (!value.is_node()) return std::nullopt;
  const ir::ValueInfo& info = graph_.node(value.node()).info;
  if (info.kind == ir::ValueInfo::Kind::integer) return of(value.node()).front();
  const bool fixed = info.is_tensor() && info.shape.empty() && fixed_.contains(value.node());
  return fixed ? Power(0) : Power();
}

}  // namespace mase::passes
