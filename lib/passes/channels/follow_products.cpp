// SPDX-License-Identifier: Apache-2.0
// Rules of products of activations: channels may be their batch dimensions (the heads of an
// attention), but not the dimension that they sum over.
#include "passes/channels/channel_follower.hpp"

namespace mase::passes {

/// [..., n, k] x [..., k, m]: the leading dimensions meet as in elementwise ops.
ChannelLayout ChannelFollower::matrix_product(const ir::Node& node) {
  const std::vector<ir::NodeId> given = graph_.inputs(node.id);
  if (given.size() != 2 || node.info.shape.size() < 2) return unknown(node);
  const ChannelLayout left = layout_of(given[0]), right = layout_of(given[1]);
  if (left.size() < 2 || right.size() < 2) return unknown(node);
  keep(node, left.back());
  keep(node, right[right.size() - 2]);
  ChannelLayout out = leading(node, given);
  out[out.size() - 2] = left[left.size() - 2];
  out.back() = right.back();
  return out;
}

/// Query [..., heads, L, E], key [..., heads, S, E] and value [..., heads, S, F] give
/// [..., heads, L, F]; masks have the heads too, or 1.
ChannelLayout ChannelFollower::attention(const ir::Node& node) {
  const std::vector<ir::NodeId> given = graph_.inputs(node.id);
  for (ir::NodeId id : given) {
    const ChannelLayout layout = layout_of(id);
    if (layout.size() < 2 || layout.size() > node.info.shape.size()) return unknown(node);
    keep(node, layout.back());
    keep(node, layout[layout.size() - 2]);
  }
  return leading(node, given);
}

/// The dimensions of a result before its last two: those of the inputs, aligned at the end.
ChannelLayout ChannelFollower::leading(const ir::Node& node, const std::vector<ir::NodeId>& given) {
  ChannelLayout out(node.info.shape.size());
  std::vector<bool> known(out.size());
  for (ir::NodeId id : given) {
    ChannelLayout layout = layout_of(id);
    for (std::size_t d = 0; d + 2 < layout.size(); ++d)
      meet(node, graph_.node(id).info.shape[d], layout[d], out.size() - layout.size() + d, out,
           known);
  }
  return out;
}

}  // namespace mase::passes
