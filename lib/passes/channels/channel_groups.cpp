// SPDX-License-Identifier: Apache-2.0
// The groups of a graph, with the reasons in words.
#include "passes/channels/channel_groups.hpp"

#include <algorithm>

#include "ir/op_table.hpp"

namespace mase::passes {
namespace channel_detail {
namespace {

using Kind = ChannelObstacle::Kind;

const ChannelObstacle* find(const ChannelUnit& unit, Kind kind) {
  const auto found = std::ranges::find(unit.obstacles, kind, &ChannelObstacle::kind);
  return found == unit.obstacles.end() ? nullptr : &*found;
}

std::size_t place(const ir::Graph& graph, const std::string& node) {
  const auto at = std::ranges::find(graph.order(), graph.find_node(node)->id);
  return static_cast<std::size_t>(at - graph.order().begin());
}

}  // namespace

bool is_unsupported(const ChannelUnit& unit) {
  return !unit.obstacles.empty() &&
         std::ranges::all_of(unit.obstacles, [](const ChannelObstacle& obstacle) {
           return obstacle.kind == Kind::op;
         });
}

std::string reason_of(const ir::Graph& graph, const ChannelUnit& unit) {
  if (const ChannelObstacle* output = find(unit, Kind::output))
    return "its channels are the model's output ('" + output->node + "')";
  if (const ChannelObstacle* stays = find(unit, Kind::stays))
    return "its channels meet others that never change at '" + stays->node + "'";
  if (const ChannelObstacle* op = find(unit, Kind::op))
    return "its channels cannot be followed through '" + op->node + "' (" +
           ir::classify(graph, *graph.find_node(op->node)).op + ")";
  return "";
}

std::vector<std::string> producers_in_order(const ir::Graph& graph, const ChannelUnit& unit) {
  std::vector<std::string> nodes = unit.producers;
  std::ranges::sort(nodes, {}, [&](const std::string& node) { return place(graph, node); });
  return nodes;
}

std::vector<int> produced_groups(const ir::Graph& graph, const ChannelMap& map) {
  std::vector<int> groups;
  for (int group = 0; group < map.space.count(); ++group)
    if (map.space.unit(group).bound.empty() && !map.space.unit(group).producers.empty())
      groups.push_back(group);
  std::ranges::stable_sort(groups, {}, [&](int group) {
    return place(graph, producers_in_order(graph, map.space.unit(group)).front());
  });
  return groups;
}

}  // namespace channel_detail

std::vector<ChannelGroup> channel_groups(const ir::Graph& graph) {
  const ChannelMap map = follow_channels(graph);
  std::vector<ChannelGroup> groups;
  for (int group : channel_detail::produced_groups(graph, map)) {
    const ChannelUnit& unit = map.space.unit(group);
    groups.push_back({channel_detail::producers_in_order(graph, unit), unit.width,
                      unit.obstacles.empty(), channel_detail::reason_of(graph, unit)});
  }
  return groups;
}

}  // namespace mase::passes
