// SPDX-License-Identifier: Apache-2.0
// Gives shapes to every node, and has a row for each family of operators that needs more.
#include "sharding/node_part.hpp"

#include <algorithm>

#include "ir/op_table.hpp"

namespace mase::sharding {
namespace {

/// Shapes that a node is given as an argument are those of its part.
void give_sizes(ir::Node& node) {
  for (const char* name : {"size", "shape"})
    if (ir::Value* value = node.find(name)) {
      ir::Value::List sizes;
      for (const std::int64_t size : node.info.shape) sizes.emplace_back(size);
      *value = ir::Value::list(std::move(sizes));
    }
}

void give_shape(ir::ValueInfo& info, const Layout& layout, const Mesh& mesh) {
  if (info.is_tensor()) info.shape = part_shape(mesh, layout, info.shape);
  for (ir::ValueInfo& item : info.elements) give_shape(item, layout, mesh);
}

/// The sequences of a recurrent node come first, and all others are states.
void give_shapes_of_states(const ir::Graph& graph, ir::Node& own, const NodePart& part) {
  const auto batch = batch_of_sequences(graph, own);
  const Layout& layout = part.layout.computed;
  Layout states = Layout::whole(layout.split.size());
  states.split[batch_of_states] = layout.split[*batch];
  give_shape(own.info.elements.front(), layout, part.mesh);
  for (std::size_t i = 1; i < own.info.elements.size(); ++i)
    give_shape(own.info.elements[i], states, part.mesh);
}

void give_shapes(const ir::Graph& graph, ir::Node& own, const NodePart& part) {
  if (!own.op.empty() && batch_of_sequences(graph, own))
    give_shapes_of_states(graph, own, part);
  else
    give_shape(own.info, part.layout.computed, part.mesh);
  if (own.info.is_tensor() && own.info.shape != part.whole.info.shape) give_sizes(own);
}

/// The operand of an argument, which the node must have.
std::size_t place_of(const NodePart& part, std::string_view argument) {
  const auto found = std::ranges::find(part.operands, argument, &Operand::argument);
  return static_cast<std::size_t>(found - part.operands.begin());
}

/// A lookup in the rows of a table that this device has.
class RowsLookup {
 public:
  RowsLookup(ir::Graph& graph, const NodePart& part, AxisSet axes, ir::NodeId next)
      : graph_(graph), self_(part.whole.id), next_(next) {
    const std::size_t weight = place_of(part, "weight");
    count_ = parts(part.mesh, axes);
    number_ = part_number(axes, part.mesh, part.rank);
    rows_ = part.operands[weight].shape()[0] / count_;
  }

  ir::NodeId make() {
    const ir::NodeId local = from_first_row(graph_.node(self_).find("indices")->node());
    const ir::ValueInfo truths =
        ir::ValueInfo::tensor(DType::boolean, graph_.node(local).info.shape);
    const ir::NodeId others = of_others(local, truths);
    const ir::NodeId inside = filled(local, others, 0, self_);
    *graph_.node(self_).find("indices") = ir::NodeRef{inside};
    Shape rows = truths.shape;
    rows.push_back(1);
    const ir::NodeId mask =
        add("aten::unsqueeze", next_, ir::ValueInfo::tensor(DType::boolean, rows),
            {{"self", ir::NodeRef{others}}, {"dim", -1}});
    return filled(self_, mask, -0.0, next_);
  }

 private:
  ir::NodeId add(const char* op, ir::NodeId before, const ir::ValueInfo& info,
                 std::vector<ir::Argument> args) {
    ir::Node node = call_of(op, std::move(args));
    node.info = info;
    return graph_.add(std::move(node), before);
  }

  ir::NodeId from_first_row(ir::NodeId indices) {
    if (number_ == 0) return indices;
    return add("aten::sub.Scalar", self_, graph_.node(indices).info,
               {{"self", ir::NodeRef{indices}}, {"other", number_ * rows_}, {"alpha", 1}});
  }

  /// Where the indices belong to rows of other devices. The first device has all below its rows,
  /// and the last one all above.
  ir::NodeId of_others(ir::NodeId local, const ir::ValueInfo& truths) {
    const auto compared = [&](const char* op, std::int64_t with) {
      return add(op, self_, truths, {{"self", ir::NodeRef{local}}, {"other", with}});
    };
    if (number_ == 0) return compared("aten::ge.Scalar", rows_);
    const ir::NodeId below = compared("aten::lt.Scalar", 0);
    if (number_ + 1 == count_) return below;
    return add(
        "aten::logical_or", self_, truths,
        {{"self", ir::NodeRef{below}}, {"other", ir::NodeRef{compared("aten::ge.Scalar", rows_)}}});
  }

  ir::NodeId filled(ir::NodeId self, ir::NodeId mask, const ir::Value& value, ir::NodeId before) {
    return add("aten::masked_fill.Scalar", before, graph_.node(self).info,
               {{"self", ir::NodeRef{self}}, {"mask", ir::NodeRef{mask}}, {"value", value}});
  }

  ir::Graph& graph_;
  const ir::NodeId self_, next_;
  std::int64_t count_ = 1, number_ = 0, rows_ = 0;
};

ir::NodeId look_up(ir::Graph& graph, const NodePart& part, ir::NodeId next) {
  const AxisSet axes = part.layout.operands[place_of(part, "weight")].split[0];
  if (axes == 0) return part.whole.id;
  return RowsLookup(graph, part, axes, next).make();
}

struct PartRule {
  ir::OpFamily family;
  ir::NodeId (*compute)(ir::Graph& graph, const NodePart& part, ir::NodeId next);
};

constexpr PartRule part_rules[] = {
    {ir::OpFamily::embedding, look_up},
};

}  // namespace

ir::NodeId compute_part(ir::Graph& graph, const NodePart& part, ir::NodeId next) {
  ir::Node& own = graph.node(part.whole.id);
  give_shapes(graph, own, part);
  divide_groups(own.args, part);
  if (own.op.empty()) return own.id;
  const ir::OpFamily family = ir::classify(graph, own).family();
  const auto rule = std::ranges::find(part_rules, family, &PartRule::family);
  return rule == std::end(part_rules) ? own.id : rule->compute(graph, part, next);
}

void divide_groups(std::vector<ir::Argument>& arguments, const NodePart& part) {
  for (ir::Argument& argument : arguments) {
    if (argument.name != "groups" && argument.name != "num_groups") continue;
    if (argument.value.kind() != ir::Value::Kind::integer || argument.value.as_int() == 1) continue;
    const std::int64_t devices = parts(part.mesh, part.layout.computed.split.at(1));
    argument.value = argument.value.as_int() / devices;
  }
}

ir::Node call_of(std::string op, std::vector<ir::Argument> args) {
  ir::Node node;
  node.kind = ir::NodeKind::call_function;
  node.target = op.substr(op.rfind(':') + 1);
  node.op = std::move(op);
  node.args = std::move(args);
  return node;
}

}  // namespace mase::sharding
