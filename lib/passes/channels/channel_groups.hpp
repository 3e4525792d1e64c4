// SPDX-License-Identifier: Apache-2.0
// Groups of layers whose widths can only be scaled together: what a search over widths varies.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.hpp"
#include "passes/channels/follow_channels.hpp"

namespace mase::passes {

/// Layers whose output channels can only be scaled together.
struct ChannelGroup {
  std::vector<std::string> nodes;  ///< linear and convolution nodes, in graph order
  /// Channels; for channels that move in blocks (the groups of a convolution, the channels behind
  /// an unflatten) the blocks. width * factor must be a whole number.
  std::int64_t width = 0;
  bool may_scale = false;
  std::string reason;  ///< a half sentence on why not; empty where it may
};

/// In the order of their first nodes. A depthwise convolution behind a concatenation is in every
/// group that it reads.
std::vector<ChannelGroup> channel_groups(const ir::Graph& graph);

namespace channel_detail {

/// Whether the group has only obstacles that are ops without a rule.
bool is_unsupported(const ChannelUnit& unit);
std::string reason_of(const ir::Graph& graph, const ChannelUnit& unit);
/// The groups with producers, in the order of their first producer.
std::vector<int> produced_groups(const ir::Graph& graph, const ChannelMap& map);
/// A group's producers in graph order.
std::vector<std::string> producers_in_order(const ir::Graph& graph, const ChannelUnit& unit);

}  // namespace channel_detail
}  // namespace mase::passes
