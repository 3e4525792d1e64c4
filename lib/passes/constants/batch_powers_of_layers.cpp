// SPDX-License-Identifier: Apache-2.0
// Rules of layers and arithmetic: which operand each size of the result comes from.
#include <algorithm>

#include "passes/constants/batch_powers.hpp"

namespace mase::passes {
namespace {

/// Broadcasting of one dimension: size 1 fits any other size; others must be known to be equal.
class Meeting {
 public:
  void add(Power power, std::int64_t size) {
    if (power == Power(0) && size == 1) return;
    clash_ = clash_ || !power || (found_ && *found_ != power);
    found_ = power;
  }
  Power result() const { return clash_ ? std::nullopt : found_.value_or(0); }

 private:
  std::optional<Power> found_;
  bool clash_ = false;
};

}  // namespace

Powers BatchPowers::same(const ir::Node& node) const {
  const std::vector<ir::NodeId> inputs = graph_.inputs(node.id);
  const bool same_shape =
      !inputs.empty() && graph_.node(inputs.front()).info.shape == node.info.shape;
  return same_shape ? of(inputs.front()) : unknown(node);
}

Powers BatchPowers::broadcast(const ir::Node& node) const {
  const Powers powers = broadcast(graph_.inputs(node.id));
  return powers.size() == node.info.shape.size() ? powers : unknown(node);
}

/// Operands align at their last dimension.
Powers BatchPowers::broadcast(const std::vector<ir::NodeId>& operands) const {
  std::size_t rank = 0;
  for (const ir::NodeId id : operands) rank = std::max(rank, graph_.node(id).info.shape.size());
  std::vector<Meeting> meetings(rank);
  for (const ir::NodeId id : operands) {
    const ir::ValueInfo& info = graph_.node(id).info;
    if (!info.is_tensor()) continue;
    for (std::size_t d = 0; d < info.shape.size(); ++d)
      meetings[rank - info.shape.size() + d].add(of(id)[d], info.shape[d]);
  }
  Powers powers;
  for (const Meeting& meeting : meetings) powers.push_back(meeting.result());
  return powers;
}

/// [N, ...] to [N, ...], where the input and the layer give the other sizes: nothing is known when
/// more than N depends on the batch. The input of a convolution without N has a smaller rank than
/// the weight, and its first dimension is channels.
Powers BatchPowers::first_kept(const ir::Node& node) const {
  const Powers from = of_first(node);
  if (from.empty() || from.size() != node.info.shape.size()) return unknown(node);
  const std::string* weight = graph_.tensor_of(node, "weight");
  const bool has_rows = !weight || graph_.tensors.at(*weight).value.shape().size() == from.size();
  const bool single = std::all_of(from.begin() + 1, from.end(),
                                  [](const Power& power) { return power == Power(0); });
  if (!has_rows || !single || (!weight && node.find("weight"))) return unknown(node);
  Powers powers(from.size(), 0);
  powers.front() = from.front();
  return powers;
}

/// Linear layers and tables: each row of `data` (each element, for a table) gets the weight's size.
Powers BatchPowers::rows_of(const ir::Node& node, std::string_view data) const {
  const ir::Value *value = node.find(data), *weight = node.find("weight");
  if (!value || !value->is_node()) return unknown(node);
  // The weight of a module, or a tensor or a part of one.
  const Powers sizes = weight && weight->is_node()        ? of(weight->node())
                       : graph_.tensor_of(node, "weight") ? Powers{0, 0}
                                                          : Powers();
  if (sizes.size() != 2) return unknown(node);
  Powers powers = of(value->node());
  if (data == "input" && !powers.empty()) powers.pop_back();
  powers.push_back(data == "input" ? sizes.front() : sizes.back());
  return powers;
}

/// [..., n, k] x [..., k, m]; there is no rule for other ranks.
Powers BatchPowers::product(const ir::Node& node) const {
  const std::vector<ir::NodeId> inputs = graph_.inputs(node.id);
  if (inputs.size() != 2) return unknown(node);
  const std::size_t rank = node.info.shape.size();
  const Powers &a = of(inputs[0]), &b = of(inputs[1]);
  if (a.size() < 2 || b.size() < 2 || std::max(a.size(), b.size()) != rank) return unknown(node);
  Powers powers = broadcast(node);
  powers[rank - 2] = a[a.size() - 2];
  powers[rank - 1] = b.back();
  return powers;
}

/// query [..., n, k], value [..., l, m] to [..., n, m].
Powers BatchPowers::attended(const ir::Node& node) const {
  const ir::Value *query = node.find("query"), *value = node.find("value");
  if (!query || !value || !query->is_node() || !value->is_node()) return unknown(node);
  Powers powers = of(query->node());
  if (powers.empty() || of(value->node()).empty()) return unknown(node);
  powers.back() = of(value->node()).back();
  return powers;
}

}  // namespace mase::passes
