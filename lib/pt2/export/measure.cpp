// SPDX-License-Identifier: Apache-2.0
// Runs the rules of shape inference.
#include "pt2/export/measure.hpp"

#include <utility>

#include "base/error.hpp"
#include "ir/inference.hpp"

namespace mase::pt2 {
namespace {

void add_info(const ir::ValueInfo& info, Measured& all) {
  all.ranks.push_back(info.shape.size());
  all.ranks.push_back(info.elements.size());
  all.sizes.insert(all.sizes.end(), info.shape.begin(), info.shape.end());
  for (const ir::ValueInfo& element : info.elements) add_info(element, all);
}

}  // namespace

class Measure::KnownSoFar : public ir::KnownResults {
 public:
  KnownSoFar(const ir::Graph& graph, const Integers& integers)
      : graph_(graph), integers_(integers) {}
  const ir::ValueInfo& info(ir::NodeId id) const override { return graph_.node(id).info; }
  std::optional<std::int64_t> integer(ir::NodeId id) const override {
    const auto found = integers_.find(id);
    return found == integers_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  const ir::Graph& graph_;
  const Integers& integers_;
};

/// Infers all nodes in order. A node without a rule keeps what the graph says of it, or ends the
/// work (false) if the sizes are others than the graph's.
bool Measure::infer(ir::Graph& graph, Integers& integers, bool own_sizes) const {
  const KnownSoFar known(graph, integers);
  for (const ir::NodeId id : graph.order()) {
    if (graph.node(id).kind == ir::NodeKind::placeholder) continue;
    const bool is_number = graph.node(id).info.is_number();
    if (!own_sizes || graph.node(id).info.kind == ir::ValueInfo::Kind::unknown) {
      auto info = ir::infer(graph, graph.node(id), known);
      if (info)
        graph.node(id).info = std::move(*info);
      else if (!own_sizes)
        return false;
    }
    const auto number = ir::host_integer(graph, graph.node(id), known);
    if (number) integers[id] = *number;
    if (!own_sizes && is_number && !number) return false;
  }
  return true;
}

Measured Measure::all_sizes(const ir::Graph& graph, const Integers& integers) const {
  Measured all;
  for (const ir::NodeId id : graph.order()) {
    const auto number = integers.find(id);
    all.ranks.push_back(number != integers.end());
    add_info(graph.node(id).info, all);
    if (number != integers.end()) all.sizes.push_back(number->second);
  }
  return all;
}

Measure::Measure(const ir::Graph& graph) : own_(graph) {
  infer(own_, integers_, true);
  measured_ = all_sizes(own_, integers_);
  std::size_t place = 0;
  for (const ir::NodeId id : own_.order()) {
    first_[id] = place;
    Measured one;
    add_info(own_.node(id).info, one);
    place += one.sizes.size() + integers_.count(id);
  }
  other_ = own_;
}

std::optional<std::int64_t> Measure::integer(ir::NodeId id) const {
  const auto found = integers_.find(id);
  return found == integers_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Measured> Measure::with(const std::vector<std::pair<Place, std::int64_t>>& sizes) {
  for (const ir::NodeId id : own_.placeholders())
    other_.node(id).info = std::as_const(own_).node(id).info;
  for (const auto& [place, size] : sizes) other_.node(place.input).info.shape.at(place.dim) = size;
  other_integers_.clear();
  try {
    if (!infer(other_, other_integers_, false)) return std::nullopt;
  } catch (const Error&) {  // sizes that do not fit
    return std::nullopt;
  }
  Measured all = all_sizes(other_, other_integers_);
  if (all.ranks != measured_.ranks) return std::nullopt;
  return all;
}

}  // namespace mase::pt2
