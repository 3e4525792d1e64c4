// SPDX-License-Identifier: Apache-2.0
// Follows a constant back through ops that only move its elements.
#include "passes/constants/equal_elements.hpp"

#include <optional>

#include "ir/dimension_map.hpp"

namespace mase::passes {
namespace {

/// The value of all elements when they are equal whole numbers; otherwise nullopt.
std::optional<std::int64_t> number_in(const Array& values) {
  if (values.dtype() != DType::int64 || values.size() == 0) return std::nullopt;
  const auto numbers = values.span<std::int64_t>();
  for (const std::int64_t number : numbers)
    if (number != numbers.front()) return std::nullopt;
  return numbers.front();
}

/// The value of all elements of a node's result; nullopt when they are not equal whole numbers.
std::optional<std::int64_t> number_of(const ir::Graph& graph, const ir::Node& node) {
  if (node.info.dtype != DType::int64) return std::nullopt;
  if (node.kind == ir::NodeKind::get_attr) return number_in(graph.tensors.at(node.target).value);
  const ir::Value* self = node.find("self");
  if (!self) self = node.find("value");
  const ir::Classified what = ir::classify(graph, node);
  if (!self || !self->is_node() || !ir::only_moves(what.family())) return std::nullopt;
  const std::string& op = what.op;
  if (op.ends_with("_like") || op == "triu" || op == "tril") return std::nullopt;
  return number_of(graph, graph.node(self->node()));
}

}  // namespace

bool take_equal_elements(ir::Graph& graph) {
  bool found = false;
  for (const ir::NodeId id : graph.order()) {
    ir::Node& node = graph.node(id);
    const ir::Value *self = node.find("self"), *index = node.find("index");
    if (ir::base_op(node.op) != "aten::gather" || !self->is_node() || !index->is_node()) continue;
    const auto number = number_of(graph, graph.node(self->node()));
    if (!number || graph.node(index->node()).info.dtype != DType::int64) continue;
    node.kind = ir::NodeKind::call_function;
    node.target = "torch.full_like";
    node.op = "aten::full_like";
    node.args = {{"self", *index}, {"fill_value", *number}};
    found = true;
  }
  return found;
}

}  // namespace mase::passes
