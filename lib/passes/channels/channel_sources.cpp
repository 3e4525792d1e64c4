// SPDX-License-Identifier: Apache-2.0
// The importance of channels, and the choice of those to copy and to remove.
#include "passes/channels/channel_sources.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace mase::passes {
namespace {

/// The sum of |w| over all dimensions except one.
std::vector<double> norms_along(const Array& weight, std::size_t axis) {
  const Array floats = weight.to_float32();
  const auto values = floats.span<float>();
  const Shape& shape = weight.shape();
  std::size_t inner = 1;
  for (std::size_t d = axis + 1; d < shape.size(); ++d) inner *= static_cast<std::size_t>(shape[d]);
  std::vector<double> norms(static_cast<std::size_t>(shape[axis]));
  for (std::size_t i = 0; i < values.size(); ++i)
    norms[i / inner % norms.size()] += std::fabs(values[i]);
  return norms;
}

/// The importance of every channel, by group and channel.
std::vector<std::vector<double>> importances(const ir::Graph& graph, const ChannelMap& map) {
  std::vector<std::vector<double>> sums;
  for (int group = 0; group < map.space.count(); ++group)
    sums.emplace_back(static_cast<std::size_t>(map.space.unit(group).width));
  for (const auto& [path, channels] : map.parameters) {
    if (channels.produced < 0) continue;
    const auto axis = static_cast<std::size_t>(channels.produced);
    const auto norms = norms_along(graph.tensors.at(path).value, axis);
    std::size_t at = 0;
    for (const ChannelRun& run : map.space.resolve(channels.layout[axis]))
      for (double& sum : sums[static_cast<std::size_t>(run.group)])
        for (std::int64_t i = 0; i < run.repeat; ++i) sum += norms[at++];
  }
  return sums;
}

/// The most important channels, in their old order.
std::vector<std::int64_t> best(const std::vector<double>& importance, std::int64_t count) {
  std::vector<std::int64_t> order(importance.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](std::int64_t i) { return importance[static_cast<std::size_t>(i)]; });
  order.resize(static_cast<std::size_t>(count));
  std::ranges::sort(order);
  return order;
}

}  // namespace

ChannelSources::ChannelSources(const ir::Graph& graph, const ChannelMap& map,
                               const ChannelWidths& widths)
    : map_(map) {
  const auto importance = importances(graph, map);
  for (std::size_t group = 0; group < importance.size(); ++group)
    groups_.push_back(widths[group] > 0
                          ? group_of(importance[group], widths[group])
                          : group_of(importance[group], std::int64_t(importance[group].size())));
}

ChannelSources::Group ChannelSources::group_of(const std::vector<double>& importance,
                                               std::int64_t width) {
  Group group;
  const auto old = static_cast<std::int64_t>(importance.size());
  if (old == 0) return group;
  for (std::int64_t i = 0; i < width / old * old; ++i) group.old.push_back(i % old);
  const auto rest = best(importance, width % old);
  group.old.insert(group.old.end(), rest.begin(), rest.end());
  group.copies.resize(importance.size());
  for (std::int64_t i : group.old) ++group.copies[static_cast<std::size_t>(i)];
  return group;
}

ResizedElements ChannelSources::elements(const ChannelRuns& runs) const {
  ResizedElements elements;
  std::int64_t first = 0;
  for (const ChannelRun& run : map_.space.resolve(runs)) {
    const Group& group = groups_[static_cast<std::size_t>(run.group)];
    std::vector<bool> seen(group.copies.size());
    for (std::int64_t channel : group.old) {
      const auto at = static_cast<std::size_t>(channel);
      for (std::int64_t i = 0; i < run.repeat; ++i) {
        elements.old.push_back(first + channel * run.repeat + i);
        elements.copies.push_back(group.copies[at]);
        elements.is_copy.push_back(seen[at]);
      }
      seen[at] = true;
    }
    first += map_.space.unit(run.group).width * run.repeat;
  }
  return elements;
}

}  // namespace mase::passes
