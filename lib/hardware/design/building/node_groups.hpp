// SPDX-License-Identifier: Apache-2.0
// Groups of the nodes of a network, cut apart at some of its streams.
#pragma once

#include <cstddef>
#include <vector>

namespace mase::design {

/// A stream between two nodes.
struct NodeLink {
  std::size_t from, to;
  bool cut;  ///< may lie between groups
};

/// Groups whose nodes ascend; a group comes behind all that have links to it. So groups that a
/// circle of links connects are one, whatever is cut.
std::vector<std::vector<std::size_t>> node_groups(std::size_t nodes,
                                                  const std::vector<NodeLink>& links);

}  // namespace mase::design
