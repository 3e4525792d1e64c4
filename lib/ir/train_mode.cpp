// SPDX-License-Identifier: Apache-2.0
// The table of operators that behave differently in training, and the nodes fixed in train mode.
#include "ir/train_mode.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.hpp"
#include "ir/op_table.hpp"

namespace mase::ir {
namespace {

constexpr std::array drawing_ops{
    DrawingOp{"aten::dropout", "train", "p"},
    DrawingOp{"aten::feature_dropout", "train", "p"},
    DrawingOp{"aten::alpha_dropout", "train", "p"},
    DrawingOp{"aten::feature_alpha_dropout", "train", "p"},
    DrawingOp{"aten::native_dropout", "train", "p"},
    DrawingOp{"aten::rrelu", "training", ""},
    DrawingOp{"aten::lstm", "train", "dropout"},
    DrawingOp{"aten::gru", "train", "dropout"},
    DrawingOp{"aten::rnn_tanh", "train", "dropout"},
    DrawingOp{"aten::rnn_relu", "train", "dropout"},
    DrawingOp{"mase::lstm", "train", "dropout"},
    DrawingOp{"mase::gru", "train", "dropout"},
    DrawingOp{"mase::rnn_tanh", "train", "dropout"},
    DrawingOp{"mase::rnn_relu", "train", "dropout"},
    DrawingOp{"aten::scaled_dot_product_attention", "", "dropout_p"},
};

bool is_true(const Value* value) {
  return value && value->kind() == Value::Kind::boolean && value->as_bool();
}

/// True when a value may be above 0: a computed value may be, and an absent one is 0.
bool may_be_positive(const Value* value) {
  using enum Value::Kind;
  if (!value) return false;
  return (value->kind() != number && value->kind() != integer) || value->as_double() > 0;
}

/// Sets an argument of a node, in the node or in its module, wherever it is given.
void set_argument(Graph& graph, Node& node, std::string_view name, const Value& value) {
  if (Value* given = node.find(name)) {
    *given = value;
  } else if (node.kind == NodeKind::call_module) {
    for (Argument& attribute : graph.modules.at(node.target).attributes)
      if (attribute.name == name) attribute.value = value;
  }
}

/// The names of nodes as in "'drop' and 'drop_1'"; the first few when there are many.
std::string names_of(const std::vector<const Node*>& nodes) {
  constexpr std::size_t most = 4;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(nodes.size(), most); ++i)
    names.push_back("'" + nodes[i]->name + "'");
  if (nodes.size() > most) names.push_back(std::to_string(nodes.size() - most) + " more");
  return join(names, ", ");
}

}  // namespace

const DrawingOp* drawing_op(std::string_view base) {
  const auto found = std::ranges::find(drawing_ops, base, &DrawingOp::op);
  return found == drawing_ops.end() ? nullptr : found;
}

bool may_draw(const Graph& graph, const Node& node) {
  const DrawingOp* op = drawing_op(base_op(node.op));
  return op && (op->amount.empty() || may_be_positive(graph.argument(node, op->amount)));
}

bool always_draws(const Graph& graph, const Node& node) {
  if (!may_draw(graph, node)) return false;
  const std::string_view training = drawing_op(base_op(node.op))->training;
  return is_true(training.empty() ? nullptr : graph.argument(node, training)) || training.empty();
}

bool draws_always(const Graph& graph) {
  return std::ranges::any_of(graph.order(),
                             [&](NodeId id) { return always_draws(graph, graph.node(id)); });
}

std::vector<std::string> stop_drawing(Graph& graph) {
  std::vector<std::string> names;
  for (const NodeId id : graph.order()) {
    Node& node = graph.node(id);
    if (!always_draws(graph, node)) continue;
    const DrawingOp& op = *drawing_op(base_op(node.op));
    if (op.training.empty())
      set_argument(graph, node, op.amount, 0.0);
    else
      set_argument(graph, node, op.training, false);
    names.push_back(node.name);
  }
  return names;
}

bool always_normalizes_by_batch(const Graph& graph, const Node& node) {
  const std::string_view op = base_op(node.op);
  const std::string_view flag = op == "aten::batch_norm"      ? "training"
                                : op == "aten::instance_norm" ? "use_input_stats"
                                                              : "";
  return !flag.empty() && is_true(graph.argument(node, flag)) &&
         graph.tensor_of(node, "running_mean");
}

std::vector<std::string> train_mode_warnings(const Graph& graph) {
  std::vector<const Node*> draw, by_batch;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (always_draws(graph, node)) draw.push_back(&node);
    if (always_normalizes_by_batch(graph, node)) by_batch.push_back(&node);
  }
  std::vector<std::string> warnings;
  if (!draw.empty())
    warnings.push_back(
        "every run gives another result, since random numbers are drawn in eval mode, too, by " +
        names_of(draw) +
        "; save the model after model.eval() and pass training=self.training to functions, "
        "or run the pass remove_dropout first");
  if (!by_batch.empty())
    warnings.push_back("the statistics of each batch are also used in eval mode by " +
                       names_of(by_batch) +
                       "; save the model after model.eval() to use the running statistics");
  return warnings;
}

}  // namespace mase::ir
