// SPDX-License-Identifier: Apache-2.0
// One sweep backwards from the output: the inputs of a node are needed only when the node stays.
#include "passes/constants/stored_nodes.hpp"

#include <algorithm>
#include <ranges>

#include "passes/constants/like_read.hpp"

namespace mase::passes {
namespace {

bool computes(const ir::Node& node) {
  return node.kind == ir::NodeKind::call_function || node.kind == ir::NodeKind::call_method ||
         node.kind == ir::NodeKind::call_module;
}

/// True when a node gives the same bits in the same order of memory after gaps between the elements
/// of its input are closed.
bool reads_values_alone(const ir::Graph& graph, const ir::Node& node) {
  if (node.kind == ir::NodeKind::output) return true;
  const ir::Classified what = ir::classify(graph, node);
  return what.family() == ir::OpFamily::elementwise && what.op != "pow";
}

std::int64_t elements_of_tensors(const ir::Graph& graph) {
  std::int64_t elements = 0;
  for (const auto& [path, tensor] : graph.tensors) elements += tensor.value.size();
  return elements;
}

}  // namespace

StoredNodes::StoredNodes(const ir::Graph& graph, const Limits& limits,
                         const ir::MakeEvaluator& evaluator)
    : graph_(graph),
      most_elements_(limits.most_elements),
      powers_(graph),
      constants_(graph, powers_, limits.parameters),
      part_(graph, constants_, evaluator),
      elements_left_(limits.most_elements + elements_of_tensors(graph)) {
  measure(evaluator != nullptr);
  for (const ir::NodeId id : graph.order() | std::views::reverse) visit(graph.node(id));
  std::ranges::reverse(stored_);
}

void StoredNodes::measure(bool has_evaluator) {
  std::vector<ir::NodeId> candidates;
  for (const ir::NodeId id : graph_.order()) {
    const ir::Node& node = graph_.node(id);
    if (!is_candidate(node)) continue;
    if (has_foreign_order(node)) foreign_.insert(id);
    if (elements_of(node) <= most_elements_) candidates.push_back(id);
  }
  if (has_evaluator) strides_ = part_.strides(candidates);
}

/// True when a node computes a tensor that could be stored. An op that only makes rows is not one.
bool StoredNodes::is_candidate(const ir::Node& node) const {
  const Constancy constancy = constants_.of(node.id);
  return computes(node) && node.info.is_tensor() && constancy != Constancy::varies &&
         constancy != Constancy::numbers && !constants_.makes_rows(node);
}

/// True for ops such as zeros_like that take the order of a tensor that a run without inputs lacks.
bool StoredNodes::has_foreign_order(const ir::Node& node) const {
  const auto like = like_read(node);
  const bool own = like && like->shape && constants_.of(like->tensor) == Constancy::varies;
  return own || std::ranges::any_of(values_read(graph_, node),
                                    [&](ir::NodeId id) { return foreign_.contains(id); });
}

void StoredNodes::visit(const ir::Node& node) {
  const bool varies = constants_.of(node.id) == Constancy::varies;
  if (!varies && !readers_.contains(node.id)) return;
  if (!varies && is_fit(node)) {
    const auto strides = strides_.find(node.id);
    const bool permuted = strides != strides_.end() &&
                          memory_order(node.info.shape, strides->second) == MemoryOrder::permuted;
    elements_left_ -= elements_of(node);
    return stored_.push_back(
        {node.id, permuted ? slowest_first(strides->second) : std::vector<std::size_t>()});
  }
  for (const ir::NodeId input : graph_.inputs(node.id)) readers_[input].push_back(node.id);
}

bool StoredNodes::is_fit(const ir::Node& node) {
  return is_candidate(node) && keeps_order(node) && is_small(node);
}

bool StoredNodes::keeps_order(const ir::Node& node) const {
  if (foreign_.contains(node.id)) return may_overlap(node.id);
  const auto strides = strides_.find(node.id);
  if (strides == strides_.end()) return !ir::permutation_of(graph_, node);
  Shape shape = node.info.shape;
  if (constants_.of(node.id) == Constancy::rows) shape.front() = ConstantPart::samples;
  switch (memory_order(shape, strides->second)) {
    case MemoryOrder::dense:
      return true;
    case MemoryOrder::gaps:
      return std::ranges::all_of(readers_.at(node.id), [&](ir::NodeId id) {
        return reads_values_alone(graph_, graph_.node(id));
      });
    case MemoryOrder::permuted:  // a permutation of a stored tensor remains one
      return constants_.of(node.id) == Constancy::fixed && !ir::permutation_of(graph_, node);
    default:
      return false;
  }
}

/// The elements to store: those of one sample when the rows are equal.
std::int64_t StoredNodes::elements_of(const ir::Node& node) const {
  const bool rows = constants_.of(node.id) == Constancy::rows;
  return numel(node.info.shape) / (rows ? powers_.batch() : 1);
}

bool StoredNodes::is_small(const ir::Node& node) {
  const std::int64_t elements = elements_of(node);
  if (elements <= std::min(most_elements_, elements_left_)) return true;
  notes_.push_back("node '" + node.name + "' stays a computation: its " + std::to_string(elements) +
                   " elements are more than most_elements (" + std::to_string(most_elements_) +
                   ")" + (elements <= most_elements_ ? ", together with those stored before" : ""));
  return false;
}

/// When overlapping rows are the first operand, the other operand would set the result's order.
bool StoredNodes::may_overlap(ir::NodeId id) const {
  return std::ranges::all_of(readers_.at(id), [&](ir::NodeId reader) {
    const ir::Node& node = graph_.node(reader);
    return node.kind == ir::NodeKind::output ||
           (reads_values_alone(graph_, node) && graph_.inputs(reader).front() != id);
  });
}

}  // namespace mase::passes
