// SPDX-License-Identifier: Apache-2.0
// One sweep from the output backwards: what a node reads is needed only where the node stays.
#include "passes/constants/stored_nodes.hpp"

#include <algorithm>
#include <ranges>

namespace mase::passes {
namespace {

bool computes(const ir::Node& node) {
  return node.kind == ir::NodeKind::call_function || node.kind == ir::NodeKind::call_method ||
         node.kind == ir::NodeKind::call_module;
}

/// Whether a node gives the same bits in the same order of memory when gaps between the elements
/// of what it reads are closed.
bool reads_values_alone(const ir::Graph& graph, const ir::Node& node) {
  if (node.kind == ir::NodeKind::output) return true;
  const ir::Classified what = ir::classify(graph, node);
  return what.family() == ir::OpFamily::elementwise && what.op != "pow";
}

}  // namespace

StoredNodes::StoredNodes(const ir::Graph& graph, bool parameters, std::int64_t most_elements)
    : graph_(graph),
      most_elements_(most_elements),
      powers_(graph),
      constants_(graph, powers_, parameters),
      orders_(memory_orders(graph)) {
  for (const ir::NodeId id : graph.order() | std::views::reverse) visit(graph.node(id));
  std::ranges::reverse(stored_);
}

void StoredNodes::visit(const ir::Node& node) {
  const bool varies = constants_.of(node.id) == Constancy::varies;
  if (!varies && !readers_.contains(node.id)) return;
  if (!varies && is_fit(node)) return stored_.push_back(node.id);
  for (const ir::NodeId input : graph_.inputs(node.id)) readers_[input].push_back(node.id);
}

bool StoredNodes::is_fit(const ir::Node& node) {
  if (!computes(node) || !node.info.is_tensor() || constants_.makes_rows(node)) return false;
  if (constants_.of(node.id) == Constancy::numbers) return false;
  return keeps_order(node) && is_small(node);
}

bool StoredNodes::keeps_order(const ir::Node& node) const {
  const MemoryOrder order = orders_.at(node.id);
  if (order != MemoryOrder::gaps) return order == MemoryOrder::dense;
  return std::ranges::all_of(readers_.at(node.id), [&](ir::NodeId id) {
    return reads_values_alone(graph_, graph_.node(id));
  });
}

bool StoredNodes::is_small(const ir::Node& node) {
  const bool rows = constants_.of(node.id) == Constancy::rows;
  const std::int64_t elements = numel(node.info.shape) / (rows ? powers_.batch() : 1);
  if (elements <= most_elements_) return true;
  notes_.push_back("node '" + node.name + "' stays a computation: its " + std::to_string(elements) +
                   " elements are more than most_elements (" + std::to_string(most_elements_) +
                   ")");
  return false;
}

/// Where rows that overlap are a first operand, the other one would choose the order of the result.
bool StoredNodes::may_overlap(ir::NodeId id) const {
  return std::ranges::all_of(readers_.at(id), [&](ir::NodeId reader) {
    const ir::Node& node = graph_.node(reader);
    return node.kind == ir::NodeKind::output ||
           (reads_values_alone(graph_, node) && graph_.inputs(reader).front() != id);
  });
}

}  // namespace mase::passes
