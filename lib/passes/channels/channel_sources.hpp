// SPDX-License-Identifier: Apache-2.0
// Which old channel every new channel of a resized group is taken from.
#pragma once

#include <cstdint>
#include <vector>

#include "passes/channels/follow_channels.hpp"

namespace mase::passes {

/// New widths by group; 0 leaves a group unchanged.
using ChannelWidths = std::vector<std::int64_t>;

/// The elements of a resized dimension.
struct ResizedElements {
  std::vector<std::int64_t> old;     ///< the old element, by new element
  std::vector<std::int64_t> copies;  ///< number of new elements with that old one, by new element
  std::vector<bool> is_copy;         ///< true for its second and later copies, by new element
};

/// A wider group repeats all of its channels as often as there is room for all, and then the most
/// important ones once more. A narrower group keeps the most important channels in their order.
/// Importance is the L1 norm of the weights that make a channel, summed over the group's layers.
class ChannelSources {
 public:
  ChannelSources(const ir::Graph& graph, const ChannelMap& map, const ChannelWidths& widths);
  ResizedElements elements(const ChannelRuns& runs) const;

 private:
  struct Group {
    std::vector<std::int64_t> old;     ///< the old channel, by new channel
    std::vector<std::int64_t> copies;  ///< the number of copies, by old channel
  };
  static Group group_of(const std::vector<double>& importance, std::int64_t width);
  const ChannelMap& map_;
  std::vector<Group> groups_;
};

}  // namespace mase::passes
