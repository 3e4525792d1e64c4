// SPDX-License-Identifier: Apache-2.0
// Writes the steps of subscripts and functions.
#include "pt2/export/expand.hpp"

#include <utility>

#include "base/error.hpp"
#include "pt2/dtypes.hpp"
#include "pt2/export/quantizers.hpp"
#include "pt2/export/steps.hpp"

namespace mase::pt2 {
namespace {

ir::NodeId softsign_steps(Steps& steps, const ir::Value& x) {
  const ir::NodeId size = steps.add("aten::abs", {{"self", x}});
  const ir::NodeId more =
      steps.add("aten::add.Scalar", {{"self", ir::NodeRef{size}}, {"other", 1}});
  return steps.add("aten::div.Tensor", {{"self", x}, {"other", ir::NodeRef{more}}});
}

ir::NodeId multi_threshold_steps(Steps& steps, const ir::Node& node) {
  const auto argument = [&](const char* name) {
    const ir::Value* value = node.find(name);
    MASE_CHECK(value, "multi_threshold has all of its arguments");
    return *value;
  };
  const ir::Value x = argument("self");
  const auto next = [&](const char* op, std::vector<ir::Argument> args) {
    return ir::Value(ir::NodeRef{steps.add(op, std::move(args))});
  };
  ir::Value value = next("aten::unsqueeze", {{"self", x}, {"dim", -1}});
  value = next("aten::ge.Tensor", {{"self", value}, {"other", argument("thresholds")}});
  value = next("aten::sum.dim_IntList", {{"self", value}, {"dim", ir::Value::list({-1})}});
  value = next("aten::to.dtype", {{"self", value}, {"dtype", row_of(node.info.dtype).in_torch}});
  value = next("aten::mul.Scalar", {{"self", value}, {"other", argument("out_scale")}});
  return next("aten::add.Scalar", {{"self", value}, {"other", argument("out_bias")}}).node();
}

/// The last step of a node; no_node for one that stays.
ir::NodeId steps_of(Steps& steps, const ir::Node& node) {
  if (node.op == "mase::softsign") return softsign_steps(steps, node.args.at(0).value);
  if (node.op == "mase::multi_threshold") return multi_threshold_steps(steps, node);
  if (node.op != "mase::getitem") return ir::no_node;
  const ir::Value &base = node.args.at(0).value, &index = node.args.at(1).value;
  if (!base.is_node() || !steps.info(base.node()).is_tensor()) return ir::no_node;
  const bool many = index.kind() == ir::Value::Kind::tuple;
  return steps.subscript(base.node(), many ? index.items() : std::vector{index});
}

void expand(Expanded& expanded, ir::NodeId id) {
  if (!expanded.graph.contains(id) || expand_recurrent(expanded, id)) return;
  const ir::Node node = expanded.graph.node(id);  // a copy: references end when nodes are added
  Steps steps(expanded, id, node);
  const ir::NodeId last = steps_of(steps, node);
  if (last == ir::no_node) return;
  ir::ValueInfo& info = expanded.graph.node(last).info;
  // Where a step depends on an integer, the rules alone do not give the result.
  if (info.kind == ir::ValueInfo::Kind::unknown) info = node.info;
  expanded.graph.replace_uses(id, last);
  expanded.graph.erase(id);
}

}  // namespace

Expanded expand_operators(const ir::Graph& graph) {
  Expanded expanded{graph, {}, {}, {}, {}};
  expand_formats(expanded);
  const std::vector<ir::NodeId> order = expanded.graph.order();
  for (const ir::NodeId id : order) expand(expanded, id);
  return expanded;
}

}  // namespace mase::pt2
