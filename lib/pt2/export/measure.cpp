// SPDX-License-Identifier: Apache-2.0
// Runs the rules of shape inference.
#include "pt2/export/measure.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
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

using Integers = std::map<ir::NodeId, std::int64_t>;

/// Operators whose results have the values of what they read.
constexpr std::string_view same_values[] = {"aten::unsqueeze", "aten::expand",     "aten::view",
                                            "aten::reshape",   "aten::contiguous", "aten::alias",
                                            "aten::to.dtype",  "mase::identity"};

std::optional<std::int64_t> number_of(const ir::Value* value, const Integers& integers) {
  if (!value) return std::nullopt;
  if (value->kind() == ir::Value::Kind::integer) return value->as_int();
  const auto found = value->is_node() ? integers.find(value->node()) : integers.end();
  return found == integers.end() ? std::nullopt : std::optional(found->second);
}

/// The largest number of a tensor that counts up to a size; nullopt for other tensors.
std::optional<std::int64_t> largest_count(const ir::Graph& graph, const ir::Value* value,
                                          const Integers& integers) {
  if (!value || !value->is_node()) return std::nullopt;
  const ir::Node& node = graph.node(value->node());
  if (node.op == "aten::arange" || node.op == "aten::arange.start") {
    const auto end = number_of(node.find("end"), integers);
    return end ? std::optional(*end - 1) : std::nullopt;
  }
  const ir::Value* self = node.find("self");
  if (std::ranges::find(same_values, node.op) != std::end(same_values))
    return largest_count(graph, self, integers);
  if (node.op != "aten::add.Scalar" || node.find("alpha")) return std::nullopt;
  const auto from = largest_count(graph, self, integers);
  const auto more = number_of(node.find("other"), integers);
  return from && more ? std::optional(*from + *more) : std::nullopt;
}

/// Whether a table has a row for every number that the graph counts itself, such as positions.
bool has_rows(const ir::Graph& graph, const ir::Node& node, const Integers& integers) {
  if (node.op != "aten::embedding") return true;
  const auto largest = largest_count(graph, graph.argument(node, "indices"), integers);
  if (!largest) return true;
  const ir::Value* weight = graph.argument(node, "weight");
  const std::string* path =
      node.kind == ir::NodeKind::call_module ? graph.module_of(node).tensor("weight") : nullptr;
  if (weight && weight->is_node()) return *largest < graph.node(weight->node()).info.shape.at(0);
  return !path || *largest < graph.tensors.at(*path).value.shape().at(0);
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
/// work (false) if the sizes are others than the graph's; so does a table with too few rows.
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
    if (!own_sizes && !has_rows(graph, graph.node(id), integers)) return false;
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
