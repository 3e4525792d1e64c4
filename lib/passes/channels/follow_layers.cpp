// SPDX-License-Identifier: Apache-2.0
// Rules of layers: which dimensions of weights read channels and which make them.
#include "passes/channels/channel_follower.hpp"

namespace mase::passes {

ChannelLayout ChannelFollower::linear(const ir::Node& node) {
  const std::string* weight = graph_.tensor_of(node, "weight");
  ChannelLayout layout = layout_in(node);
  if (!weight || channels_of(*weight).layout.size() != 2 || layout.empty()) return unknown(node);
  layout.back() = dense(node, *weight, layout.back(), 1);
  return layout;
}

ChannelLayout ChannelFollower::convolution(const ir::Node& node) { return convolve(node, false); }

ChannelLayout ChannelFollower::transposed_convolution(const ir::Node& node) {
  return convolve(node, true);
}

/// Input [N, C, spatial ...] or [C, spatial ...]; the weight is [.., .., spatial ...].
ChannelLayout ChannelFollower::convolve(const ir::Node& node, bool transposed) {
  const std::string* weight = graph_.tensor_of(node, "weight");
  ChannelLayout layout = layout_in(node);
  const std::size_t rank = weight ? channels_of(*weight).layout.size() : 0;
  if (rank < 3 || layout.size() + 1 < rank) return unknown(node);
  const std::size_t channels = layout.size() + 1 - rank;
  keep_all_but(node, layout, channels);
  const std::int64_t groups = number(node, "groups", 1);
  layout[channels] = groups == 1 ? dense(node, *weight, layout[channels], transposed ? 0 : 1)
                                 : grouped(node, *weight, layout[channels], groups, transposed);
  return layout;
}

ChannelRuns ChannelFollower::dense(const ir::Node& node, const std::string& weight,
                                   const ChannelRuns& in, int in_axis) {
  ParameterChannels& channels = channels_of(weight);
  channels.contracted = in_axis;
  channels.produced = 1 - in_axis;
  ChannelRuns made = channels.layout[static_cast<std::size_t>(channels.produced)];
  map_.space.join(in, channels.layout[static_cast<std::size_t>(in_axis)], node.name);
  join_parameter(node, "bias", made);
  map_.space.add_producer(made, node.name);
  return made;
}

/// The weight's dimension 0 is [groups, channels of a group]: of the output, or of the input when
/// transposed. Input and output move in these blocks, and the number of groups follows them.
ChannelRuns ChannelFollower::grouped(const ir::Node& node, const std::string& weight,
                                     const ChannelRuns& in, std::int64_t groups, bool transposed) {
  ParameterChannels& channels = channels_of(weight);
  channels.produced = 0;
  const Shape& shape = graph_.tensors.at(weight).value.shape();
  const std::int64_t in_block = transposed ? shape[0] / groups : shape[1];
  const std::int64_t out_block = transposed ? shape[1] : shape[0] / groups;
  ChannelRuns made;
  if (map_.space.move_in_blocks(in, in_block, node.name))
    for (const ChannelRun& run : map_.space.resolve(in))
      made.push_back({run.group, run.repeat / in_block * out_block});
  map_.space.join(transposed ? in : made, channels.layout[0], node.name);
  join_parameter(node, "bias", made);
  map_.space.add_producer(channels.layout[0], node.name);
  map_.numbers.push_back({node.id, "groups", -1, in, in_block});
  return made;
}

ChannelLayout ChannelFollower::channel_norm(const ir::Node& node) {
  ChannelLayout layout = layout_in(node);
  if (layout.size() < 2) return unknown(node);
  for (const char* argument : {"weight", "bias", "running_mean", "running_var"})
    join_parameter(node, argument, layout[1]);
  return layout;
}

ChannelLayout ChannelFollower::last_norm(const ir::Node& node) {
  const ir::Value* shape = graph_.argument(node, "normalized_shape");
  const bool list = shape != nullptr && shape->kind() == ir::Value::Kind::list;
  ChannelLayout layout = layout_in(node);
  if (!list || shape->items().size() != 1 || layout.empty()) return unknown(node);
  for (const char* argument : {"weight", "bias"}) join_parameter(node, argument, layout.back());
  map_.numbers.push_back({node.id, "normalized_shape", 0, layout.back(), 1});
  return layout;
}

ChannelLayout ChannelFollower::group_norm(const ir::Node& node) {
  ChannelLayout layout = layout_in(node);
  const std::int64_t groups = number(node, "num_groups", 0);
  if (layout.size() < 2 || groups < 1) return unknown(node);
  const std::int64_t block = shape_in(node)[1] / groups;
  map_.space.move_in_blocks(layout[1], block, node.name);
  for (const char* argument : {"weight", "bias"}) join_parameter(node, argument, layout[1]);
  map_.numbers.push_back({node.id, "num_groups", -1, layout[1], block});
  return layout;
}

ChannelLayout ChannelFollower::channel_activation(const ir::Node& node) {
  const std::string* weight = graph_.tensor_of(node, "weight");
  ChannelLayout layout = layout_in(node);
  if (!weight) return unknown(node);
  const bool slope_per_channel = graph_.tensors.at(*weight).value.size() > 1;
  if (slope_per_channel && layout.size() < 2) return unknown(node);
  if (slope_per_channel) join_parameter(node, "weight", layout[1]);
  return layout;
}

}  // namespace mase::passes
