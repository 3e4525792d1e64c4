// SPDX-License-Identifier: Apache-2.0
// Follows the channels of every linear and convolution layer through a graph: which dimensions of
// which tensors change together.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/graph.hpp"
#include "passes/channels/channel_runs.hpp"

namespace mase::passes {

using ChannelLayout = std::vector<ChannelRuns>;  ///< by dimension

/// A parameter or buffer.
struct ParameterChannels {
  ChannelLayout layout;
  int contracted = -1;  ///< the dimension that a layer sums over
  int produced = -1;    ///< the dimension that makes a layer's output channels
};

/// A number written in the graph that follows a dimension: `groups` of a convolution, a size of a
/// view. Its value is the elements of `runs` divided by `divisor`.
struct ChannelNumber {
  ir::NodeId node = ir::no_node;
  std::string argument;
  int index = -1;  ///< place in a list, -1 for a plain number
  ChannelRuns runs;
  std::int64_t divisor = 1;
};

/// Where the channels of every layer go: through which values, parameters and numbers.
struct ChannelMap {
  ChannelSpace space;
  std::map<ir::NodeId, ChannelLayout> layouts;  ///< of nodes that yield a tensor
  std::map<std::string, ParameterChannels> parameters;
  std::vector<ChannelNumber> numbers;
};

/// Works on the shapes noted on the nodes. Channels that meet a node without a rule keep their
/// width, as do those that the output shows and those that meet elements which no layer makes.
/// Depthwise and grouped convolutions and group norms scale their number of groups; a view that
/// takes channels apart scales the outermost part, which for an attention is its heads.
ChannelMap follow_channels(const ir::Graph& graph);

}  // namespace mase::passes
