// SPDX-License-Identifier: Apache-2.0
// The walk over the graph, the rule of each family of ops, and the questions that rules ask.
#include "passes/channels/follow_channels.hpp"

#include <algorithm>

#include "passes/channels/channel_follower.hpp"

namespace mase::passes {

/// Families without a row have no rule.
const std::vector<ChannelFollower::RuleRow>& ChannelFollower::rules() {
  using F = ChannelFollower;
  using enum ir::OpFamily;
  static const std::vector<RuleRow> rows{
      {linear, &F::linear},
      {convolution, &F::convolution},
      {transposed_convolution, &F::transposed_convolution},
      {batch_norm, &F::channel_norm},
      {instance_norm, &F::channel_norm},
      {layer_norm, &F::last_norm},
      {group_norm, &F::group_norm},
      {channel_activation, &F::channel_activation},
      {unary, &F::mapped},
      {copy, &F::mapped},
      {elementwise, &F::elementwise},
      {matrix_product, &F::matrix_product},
      {attention, &F::attention},
      {pooling, &F::window},
      {adaptive_pooling, &F::window},
      {resampling, &F::window},
      {pad, &F::mapped},
      {softmax, &F::mapped},
      {reduction, &F::reduce},
      {transpose, &F::mapped},
      {permute, &F::mapped},
      {concatenation, &F::concatenate},
      {expand, &F::expand},
      {reshape, &F::reshape},
  };
  return rows;
}

ChannelFollower::Rule ChannelFollower::rule_of(ir::OpFamily family) {
  const auto row = std::ranges::find(rules(), family, &RuleRow::family);
  return row == rules().end() ? &ChannelFollower::unknown : row->rule;
}

ChannelMap ChannelFollower::run() {
  for (ir::NodeId id : graph_.order()) visit(graph_.node(id));
  return std::move(map_);
}

void ChannelFollower::visit(const ir::Node& node) {
  if (node.kind == ir::NodeKind::output) return visit_output(node);
  const ir::OpFamily family = ir::classify(graph_, node).family();
  if (family == ir::OpFamily::size) return visit_size(node);
  const Rule rule = rule_of(family);
  if (rule != &ChannelFollower::reshape && rule != &ChannelFollower::expand) keep_numbers(node);
  ChannelLayout layout;
  if (node.kind == ir::NodeKind::placeholder)
    layout.resize(node.info.shape.size());
  else if (node.kind == ir::NodeKind::get_attr)
    layout = channels_of(node.target).layout;
  else
    layout = node.info.is_tensor() && data(node) ? (this->*rule)(node) : unknown(node);
  if (node.info.is_tensor()) map_.layouts[node.id] = std::move(layout);
}

void ChannelFollower::visit_output(const ir::Node& node) {
  for (ir::NodeId id : graph_.inputs(node.id)) {
    for (const ChannelRuns& runs : layout_of(id))
      map_.space.keep(runs, {ChannelObstacle::Kind::output, graph_.node(id).name});
    if (const auto size = sizes_.find(id); size != sizes_.end())
      map_.space.keep(size->second, {ChannelObstacle::Kind::output, node.name});
  }
}

void ChannelFollower::visit_size(const ir::Node& node) {
  const ir::Node* of = data(node);
  if (of == nullptr) return;
  const ChannelLayout layout = layout_of(of->id);
  const ir::Value* dim = graph_.argument(node, "dim");
  if (dim != nullptr && dim->kind() == ir::Value::Kind::integer) {
    sizes_[node.id] = layout[place_of(dim->as_int(), layout.size())];
    return;
  }
  for (const ChannelRuns& runs : layout) keep(node, runs);
}

void ChannelFollower::keep_numbers(const ir::Node& node) {
  for (ir::NodeId id : graph_.inputs(node.id))
    if (const auto size = sizes_.find(id); size != sizes_.end()) keep(node, size->second);
}

ChannelLayout ChannelFollower::unknown(const ir::Node& node) {
  for (ir::NodeId id : graph_.inputs(node.id))
    for (const ChannelRuns& runs : layout_of(id)) keep(node, runs);
  if (node.kind == ir::NodeKind::call_module)
    for (const auto& [argument, path] : graph_.module_of(node).tensors)
      for (const ChannelRuns& runs : channels_of(path).layout) keep(node, runs);
  return ChannelLayout(node.info.shape.size());
}

std::int64_t ChannelFollower::number(const ir::Node& node, std::string_view name,
                                     std::int64_t otherwise) const {
  const ir::Value* value = graph_.argument(node, name);
  const bool known = value != nullptr && value->kind() == ir::Value::Kind::integer;
  return known ? value->as_int() : otherwise;
}

const ir::Node* ChannelFollower::data(const ir::Node& node) const {
  const ir::Node* found = nullptr;
  for (const ir::Argument& argument : node.args)
    argument.value.for_each_node([&](ir::NodeId id) {
      if (!found && graph_.node(id).info.is_tensor()) found = &graph_.node(id);
    });
  return found;
}

ChannelLayout ChannelFollower::layout_in(const ir::Node& node) const {
  return layout_of(data(node)->id);
}

ChannelLayout ChannelFollower::layout_of(ir::NodeId id) const {
  const auto found = map_.layouts.find(id);
  return found == map_.layouts.end() ? ChannelLayout() : found->second;
}

ParameterChannels& ChannelFollower::channels_of(const std::string& path) {
  const auto [found, added] = map_.parameters.try_emplace(path);
  const auto tensor = graph_.tensors.find(path);
  if (!added || tensor == graph_.tensors.end()) return found->second;
  for (std::int64_t size : tensor->second.value.shape())
    found->second.layout.push_back(map_.space.add(size));
  return found->second;
}

void ChannelFollower::join_parameter(const ir::Node& node, std::string_view argument,
                                     const ChannelRuns& runs) {
  if (const std::string* path = graph_.tensor_of(node, argument))
    map_.space.join(runs, channels_of(*path).layout.front(), node.name);
}

void ChannelFollower::keep(const ir::Node& node, const ChannelRuns& runs) {
  map_.space.keep(runs, {ChannelObstacle::Kind::op, node.name});
}

void ChannelFollower::keep_all_but(const ir::Node& node, ChannelLayout& layout,
                                   std::size_t dimension) {
  for (std::size_t d = 0; d < layout.size(); ++d) {
    if (d == dimension) continue;
    keep(node, layout[d]);
    layout[d].clear();
  }
}

ChannelMap follow_channels(const ir::Graph& graph) { return ChannelFollower(graph).run(); }

}  // namespace mase::passes
