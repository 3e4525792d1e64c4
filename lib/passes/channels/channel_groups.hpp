// SPDX-License-Identifier: Apache-2.0
// Groups of layers whose widths can only be scaled together; a search over widths varies these.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.hpp"
#include "passes/channels/follow_channels.hpp"

namespace mase::passes {

/// Layers whose output channels can only be scaled together.
struct ChannelGroup {
  std::vector<std::string> nodes;  ///< linear and convolution nodes, in graph order
  /// The number of channels, or of blocks when channels move in blocks (the groups of a
  /// convolution, the channels after an unflatten). width * factor must be a whole number.
  std::int64_t width = 0;
  bool may_scale = false;
  std::string reason;  ///< why it must not be scaled, as a clause; empty when it may
};

/// The groups of a graph, in the order of their first nodes. A depthwise convolution after a
/// concatenation is in every group that it reads.
std::vector<ChannelGroup> channel_groups(const ir::Graph& graph);

namespace channel_detail {

/// True when all obstacles of the group are ops without a rule.
bool is_unsupported(const ChannelUnit& unit);
std::string reason_of(const ir::Graph& graph, const ChannelUnit& unit);
/// The groups with producers, in the order of their first producer.
std::vector<int> produced_groups(const ir::Graph& graph, const ChannelMap& map);
/// A group's producers in graph order.
std::vector<std::string> producers_in_order(const ir::Graph& graph, const ChannelUnit& unit);

}  // namespace channel_detail
}  // namespace mase::passes
