// SPDX-License-Identifier: Apache-2.0
// Reads of a size or of the list of sizes, by an operator or as an item of a list.
#include "passes/constants/size_read.hpp"

#include "base/from_front.hpp"
#include "ir/op_table.hpp"

namespace mase::passes {
namespace {

using Kind = ir::Value::Kind;

std::optional<SizeRead> one_of(const ir::Graph& graph, ir::NodeId tensor, const ir::Value* dim) {
  if (!dim || dim->kind() != Kind::integer) return std::nullopt;
  const auto place = from_front(dim->as_int(), graph.node(tensor).info.shape.size());
  return place ? std::optional(SizeRead{tensor, place}) : std::nullopt;
}

}  // namespace

std::optional<SizeRead> size_read(const ir::Graph& graph, const ir::Node& node) {
  const bool is_size = ir::base_op(node.op) == "aten::size";
  if (!is_size && node.op != "mase::getitem") return std::nullopt;
  const ir::Value* from = node.find(is_size ? "self" : "value");
  if (!from || !from->is_node()) return std::nullopt;
  if (!is_size) {
    const auto list = size_read(graph, graph.node(from->node()));
    return list && !list->dim ? one_of(graph, list->tensor, node.find("index")) : std::nullopt;
  }
  if (!graph.node(from->node()).info.is_tensor()) return std::nullopt;
  if (!node.find("dim")) return SizeRead{from->node(), std::nullopt};
  return one_of(graph, from->node(), node.find("dim"));
}

}  // namespace mase::passes
