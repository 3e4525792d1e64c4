// SPDX-License-Identifier: Apache-2.0
// Follows the channels of every linear and convolution layer through a graph, to find the
// dimensions of tensors that change together.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/graph.hpp"
#include "passes/channels/channel_runs.hpp"

namespace mase::passes {

using ChannelLayout = std::vector<ChannelRuns>;  ///< by dimension

/// The channels of a parameter or buffer.
struct ParameterChannels {
  ChannelLayout layout;
  int contracted = -1;  ///< the dimension that a layer sums over
  int produced = -1;    ///< the dimension that makes a layer's output channels
};

/// A number in the graph that follows a dimension, such as `groups` of a convolution or a size of a
/// view. Its value is the number of elements of `runs` divided by `divisor`.
struct ChannelNumber {
  ir::NodeId node = ir::no_node;
  std::string argument;
  int index = -1;  ///< place in a list, -1 for a plain number
  ChannelRuns runs;
  std::int64_t divisor = 1;
};

/// The values, parameters and numbers through which the channels of every layer go.
struct ChannelMap {
  ChannelSpace space;
  std::map<ir::NodeId, ChannelLayout> layouts;  ///< for nodes that yield a tensor
  std::map<std::string, ParameterChannels> parameters;
  std::vector<ChannelNumber> numbers;
};

/// Follows channels by the shapes noted on the nodes. Channels keep their width when they meet a
/// node without a rule, reach the output, or meet elements that are not channels of a layer.
/// Depthwise and grouped convolutions and group norms scale their number of groups; a view that
/// takes channels apart scales the outermost part, which for an attention is its heads.
ChannelMap follow_channels(const ir::Graph& graph);

}  // namespace mase::passes
