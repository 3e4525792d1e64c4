// SPDX-License-Identifier: Apache-2.0
// Writes the steps of subscripts and functions.
#include "pt2/export/expand.hpp"

#include <limits>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "ir/inference.hpp"
#include "pt2/dtypes.hpp"

namespace mase::pt2 {
namespace {

using Kind = ir::Value::Kind;

/// The infos of the graph; no integer of the host is known.
class InfosAlone : public ir::KnownResults {
 public:
  explicit InfosAlone(const ir::Graph& graph) : graph_(graph) {}
  const ir::ValueInfo& info(ir::NodeId id) const override { return graph_.node(id).info; }
  std::optional<std::int64_t> integer(ir::NodeId) const override { return std::nullopt; }

 private:
  const ir::Graph& graph_;
};

/// Puts the steps of one node in front of it.
class Steps {
 public:
  Steps(Expanded& expanded, ir::NodeId id)
      : expanded_(expanded), node_(expanded.graph.node(id)), known_(expanded.graph) {}

  const ir::Node& node() const { return node_; }
  const ir::ValueInfo& info(ir::NodeId id) const { return expanded_.graph.node(id).info; }

  ir::NodeId add(std::string op, std::vector<ir::Argument> args) {
    ir::Node step;
    step.kind = ir::NodeKind::call_function;
    step.target = "torch." + op.substr(op.rfind(':') + 1);
    step.target = step.target.substr(0, step.target.find('.', 6));
    step.op = std::move(op);
    step.args = std::move(args);
    const ir::NodeId id = expanded_.graph.add(std::move(step), node_.id);
    if (auto info = ir::infer(expanded_.graph, expanded_.graph.node(id), known_))
      expanded_.graph.node(id).info = std::move(*info);
    expanded_.origins.emplace(id, node_);
    return id;
  }

  /// The node's readers read this step instead.
  void finish(ir::NodeId id) {
    // Where a step depends on an integer, the rules alone do not give the result.
    if (info(id).kind == ir::ValueInfo::Kind::unknown) expanded_.graph.node(id).info = node_.info;
    expanded_.graph.replace_uses(node_.id, id);
    expanded_.graph.erase(node_.id);
  }

 private:
  Expanded& expanded_;
  const ir::Node node_;  ///< a copy: references end when nodes are added
  InfosAlone known_;
};

ir::Value or_else(const ir::Value& bound, std::int64_t otherwise) {
  return bound.is_none() ? ir::Value(otherwise) : bound;
}

/// As in Python, integers, slices and None are applied one by one, and tensors together at the end.
void write_subscript(Steps& steps, ir::NodeId base, const std::vector<ir::Value>& items) {
  std::int64_t dim = 0;
  bool has_tensors = false;
  ir::Value::List tensors;
  ir::Value value = ir::NodeRef{base};
  const auto apply = [&](const char* op, std::vector<ir::Argument> args) {
    args.insert(args.begin(), {"self", value});
    value = ir::NodeRef{steps.add(op, std::move(args))};
  };
  for (const ir::Value& item : items) {
    const bool tensor = item.is_node() && steps.info(item.node()).is_tensor();
    if (item.kind() == Kind::slice) {
      apply("aten::slice.Tensor",
            {{"dim", dim},
             {"start", or_else(item.items()[0], 0)},
             {"end", or_else(item.items()[1], std::numeric_limits<std::int64_t>::max())},
             {"step", or_else(item.items()[2], 1)}});
    } else if (item.is_none()) {
      apply("aten::unsqueeze", {{"dim", dim}});
    } else if (tensor) {
      has_tensors = true;
      tensors.resize(static_cast<std::size_t>(dim));
      tensors.push_back(item);
    } else if (item.is_node() || item.kind() == Kind::integer) {
      apply("aten::select.int", {{"dim", dim}, {"index", item}});
      continue;
    } else {
      unsupported_error("a subscript that is neither a number nor a slice or tensor");
    }
    ++dim;
  }
  if (has_tensors) apply("aten::index.Tensor", {{"indices", ir::Value::list(tensors)}});
  if (value.node() == base) apply("aten::alias", {});
  steps.finish(value.node());
}

void write_softsign(Steps& steps, const ir::Value& x) {
  const ir::NodeId size = steps.add("aten::abs", {{"self", x}});
  const ir::NodeId more =
      steps.add("aten::add.Scalar", {{"self", ir::NodeRef{size}}, {"other", 1}});
  steps.finish(steps.add("aten::div.Tensor", {{"self", x}, {"other", ir::NodeRef{more}}}));
}

void write_multi_threshold(Steps& steps, const ir::Node& node) {
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
  value = next("aten::add.Scalar", {{"self", value}, {"other", argument("out_bias")}});
  steps.finish(value.node());
}

void expand(Expanded& expanded, ir::NodeId id) {
  Steps steps(expanded, id);
  const ir::Node& node = steps.node();
  if (node.op == "mase::softsign") return write_softsign(steps, node.args.at(0).value);
  if (node.op == "mase::multi_threshold") return write_multi_threshold(steps, node);
  if (node.op != "mase::getitem") return;
  const ir::Value &base = node.args.at(0).value, &index = node.args.at(1).value;
  if (!base.is_node() || !steps.info(base.node()).is_tensor()) return;
  const bool many = index.kind() == Kind::tuple;
  write_subscript(steps, base.node(), many ? index.items() : std::vector{index});
}

}  // namespace

Expanded expand_operators(const ir::Graph& graph) {
  Expanded expanded{graph, {}};
  const std::vector<ir::NodeId> order = graph.order();
  for (const ir::NodeId id : order) expand(expanded, id);
  return expanded;
}

}  // namespace mase::pt2
