// SPDX-License-Identifier: Apache-2.0
// The backward walk that finds demands.
#include "hardware/integer/lowering/demand.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "hardware/integer/lowering/comparison.hpp"
#include "hardware/integer/lowering/embedding.hpp"
#include "hardware/integer/lowering/host_numbers.hpp"
#include "hardware/integer/lowering/lowering_table.hpp"
#include "ir/op_table.hpp"

namespace mase::integer {
namespace {

using Kind = Demand::Kind;

Demand demand_of(const formats::Format& format, const ir::Node& reader, const std::string& port) {
  try {
    Grid grid = grid_of(format);
    if (grid.levels) return {Kind::none, {}, {}, grid.levels};
    if (grid.blocks) return {Kind::none, {}, {}, nullptr, grid.blocks};
    return {Kind::grid, std::move(grid), {}};
  } catch (const Error& error) {
    return {Kind::refused, {}, "format of " + port + " of '" + reader.name + "': " + error.what()};
  }
}

Demand joined(const Demand& a, const Demand& b) {
  if (a.kind == Kind::refused && !a.reason.empty()) return a;
  if (b.kind == Kind::refused) return b;
  if (a.kind == Kind::refused) return a;
  if (a.levels && b.levels && *a.levels == *b.levels) return a;
  if (a.blocks && b.blocks && *a.blocks == *b.blocks) return a;
  if (a.kind == Kind::none || b.kind == Kind::none) return {};
  if (a.grid.type == b.grid.type && a.grid.rounding == b.grid.rounding) return a;
  if (a.grid.type.frac != b.grid.type.frac || a.grid.rounding != b.grid.rounding) return {};
  const Wide low = std::min(a.grid.type.low(), b.grid.type.low());
  const Wide high = std::max(a.grid.type.high(), b.grid.type.high());
  return {Kind::grid, {type_for(low, high, a.grid.type.frac), a.grid.rounding}, {}};
}

bool refers_to(const ir::Value& value, ir::NodeId id) {
  bool found = false;
  value.for_each_node([&](ir::NodeId other) { found = found || other == id; });
  return found;
}

/// What the formats of the ports ask at which `user` reads node `id`; x * x reads it at two.
std::optional<Demand> demand_of_ports(const ir::Graph& graph, const ir::Node& user, ir::NodeId id) {
  std::optional<Demand> all;
  for (const ir::Port& port : ir::ports(graph, user)) {
    const auto format = user.formats.find(port.name);
    if (format == user.formats.end() || !refers_to(port.value, id)) continue;
    const Demand one = demand_of(format->second, user, port.name);
    all = all ? joined(*all, one) : one;
  }
  return all;
}

/// What `user` asks of the result of node `id`.
Demand demand_of_use(const ir::Graph& graph, const ir::Node& user, ir::NodeId id,
                     const std::map<ir::NodeId, Demand>& demands) {
  if (user.kind == ir::NodeKind::output) return {};
  if (graph.node(id).info.dtype == DType::boolean) return {};  // 0 or 1 on no grid
  const LoweringRow* row = lowering_of(graph, user);
  if (!row) return {Kind::refused, {}, {}};
  if (const auto ids = id_type(graph, user, id))
    return {Kind::grid, {*ids, formats::Rounding::nearest_even}, {}};
  if (const auto compared = compared_type(graph, user, id))
    return {Kind::grid, {*compared, formats::Rounding::nearest_even}, {}};
  if (const auto own = demand_of_ports(graph, user, id)) return *own;
  if (!row->commutes) return {};
  const auto out = user.formats.find("data_out");
  const bool has_own = out != user.formats.end() && user.info.is_tensor();
  const Demand passed = has_own ? demand_of(out->second, user, "data_out") : demands.at(user.id);
  return passed.blocks ? Demand{} : passed;
}

std::string grid_text(const Demand& demand) {
  if (demand.levels) return demand.levels->format;
  if (demand.blocks) return demand.blocks->text();
  if (demand.kind != Kind::grid) return "none";
  return format_text(demand.grid);
}

}  // namespace

std::string demands_text(const ir::Graph& graph, ir::NodeId id,
                         const std::map<ir::NodeId, Demand>& demands) {
  std::string text;
  for (const ir::NodeId user : graph.users(id)) {
    const ir::Node& reader = graph.node(user);
    if (is_host_value(reader)) continue;
    text += (text.empty() ? "'" : ", '") + reader.name + (text.empty() ? "' asks for " : "' for ") +
            grid_text(demand_of_use(graph, reader, id, demands));
  }
  return text;
}

std::map<ir::NodeId, Demand> find_demands(const ir::Graph& graph) {
  std::map<ir::NodeId, Demand> demands;
  for (auto id = graph.order().rbegin(); id != graph.order().rend(); ++id) {
    std::optional<Demand> all;
    for (const ir::NodeId user : graph.users(*id)) {
      if (is_host_value(graph.node(user))) continue;
      const Demand one = demand_of_use(graph, graph.node(user), *id, demands);
      all = all ? joined(*all, one) : one;
    }
    demands[*id] = all.value_or(Demand{});
  }
  return demands;
}

}  // namespace mase::integer
