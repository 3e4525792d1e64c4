// SPDX-License-Identifier: Apache-2.0
// ChannelFollower: the state of follow_channels, with one member function per rule. Only this
// folder uses it.
#pragma once

#include <string_view>

#include "ir/op_table.hpp"
#include "passes/channels/follow_channels.hpp"

namespace mase::passes {

/// A dimension counted from the front; Error(Fault::file) when the rank has no such dimension.
std::size_t place_of(std::int64_t dim, std::size_t rank);

/// Walks a graph once and joins the channels that must keep the same width.
class ChannelFollower {
 public:
  explicit ChannelFollower(const ir::Graph& graph) : graph_(graph) {}
  ChannelMap run();

 private:
  using Rule = ChannelLayout (ChannelFollower::*)(const ir::Node& node);
  struct RuleRow {
    ir::OpFamily family;
    Rule rule;
  };
  static const std::vector<RuleRow>& rules();
  static Rule rule_of(ir::OpFamily family);

  void visit(const ir::Node& node);
  void visit_output(const ir::Node& node);
  void visit_size(const ir::Node& node);
  /// Makes channels keep their width when a node takes a number that is computed from their size.
  void keep_numbers(const ir::Node& node);
  ChannelLayout unknown(const ir::Node& node);

  // Layers.
  ChannelLayout linear(const ir::Node& node);
  ChannelLayout convolution(const ir::Node& node);
  ChannelLayout transposed_convolution(const ir::Node& node);
  ChannelLayout convolve(const ir::Node& node, bool transposed);
  ChannelRuns dense(const ir::Node& node, const std::string& weight, const ChannelRuns& in,
                    int in_axis);
  ChannelRuns grouped(const ir::Node& node, const std::string& weight, const ChannelRuns& in,
                      std::int64_t groups, bool transposed);
  ChannelLayout channel_norm(const ir::Node& node);
  ChannelLayout last_norm(const ir::Node& node);
  ChannelLayout group_norm(const ir::Node& node);
  ChannelLayout channel_activation(const ir::Node& node);

  // Products of activations.
  ChannelLayout matrix_product(const ir::Node& node);
  ChannelLayout attention(const ir::Node& node);
  ChannelLayout leading(const ir::Node& node, const std::vector<ir::NodeId>& given);

  // Shapes.
  ChannelLayout mapped(const ir::Node& node);
  ChannelLayout elementwise(const ir::Node& node);
  void meet(const ir::Node& node, std::int64_t size, const ChannelRuns& runs, std::size_t at,
            ChannelLayout& out, std::vector<bool>& known);
  ChannelLayout window(const ir::Node& node);
  ChannelLayout reduce(const ir::Node& node);
  ChannelLayout concatenate(const ir::Node& node);
  ChannelLayout expand(const ir::Node& node);
  ChannelLayout reshape(const ir::Node& node);
  ChannelRuns merged(const ir::Node& node, const Shape& shape, const ChannelLayout& layout,
                     std::size_t first, std::size_t last);
  void taken_apart(const ir::Node& node, const ChannelRuns& runs, std::size_t first,
                   std::size_t last, ChannelLayout& out);
  void follow_sizes(const ir::Node& node, const ChannelLayout& out);

  // Questions that rules ask.
  std::int64_t number(const ir::Node& node, std::string_view name, std::int64_t otherwise) const;
  const ir::Node* data(const ir::Node& node) const;  ///< the node of the first data argument
  const Shape& shape_in(const ir::Node& node) const { return data(node)->info.shape; }
  ChannelLayout layout_in(const ir::Node& node) const;
  ChannelLayout layout_of(ir::NodeId id) const;
  ParameterChannels& channels_of(const std::string& path);
  void join_parameter(const ir::Node& node, std::string_view argument, const ChannelRuns& runs);
  void keep(const ir::Node& node, const ChannelRuns& runs);
  void keep_all_but(const ir::Node& node, ChannelLayout& layout, std::size_t dimension);

  const ir::Graph& graph_;
  ChannelMap map_;
  std::map<ir::NodeId, ChannelRuns> sizes_;  ///< numbers that a node reads from a shape
};

}  // namespace mase::passes
