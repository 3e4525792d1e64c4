// SPDX-License-Identifier: Apache-2.0
// What the stages of a pipeline send each other, as nodes of one device's graph.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "ir/graph.hpp"

namespace mase::sharding {

/// The transfers of one device. All devices make them in the order of the nodes of the graph, so
/// none waits for another one that waits for it.
class StageTransfers {
 public:
  /// The stages are in the metadata of the nodes. Error(Fault::file) names a node without one.
  StageTransfers(const ir::Graph& graph, std::int64_t devices, std::int64_t rank,
                 std::size_t stages);

  std::size_t stages() const { return stages_; }
  /// Inputs and stored tensors are on all devices.
  static bool is_everywhere(const ir::Node& node);
  std::size_t stage(const ir::Node& node) const { return stage_.at(node.id); }
  /// The stages that read the result of a node.
  const std::set<std::size_t>& readers(const ir::Node& node) const;

  /// Nodes to and from the device in the same place of another stage.
  ir::Node send(ir::NodeId self, const ir::ValueInfo& info, std::size_t stage,
                std::int64_t tag) const;
  ir::Node receive(const ir::ValueInfo& info, std::size_t stage, std::int64_t tag) const;
  /// Later transfers come after this one, and keep it in the graph.
  void done(ir::NodeId id) { last_ = id; }

 private:
  ir::Node call(const char* name, std::vector<ir::Argument> args, const ir::ValueInfo& info) const;
  std::int64_t peer(std::size_t stage) const;

  std::int64_t devices_, place_;
  std::size_t stages_;
  std::map<ir::NodeId, std::size_t> stage_;
  std::map<ir::NodeId, std::set<std::size_t>> readers_;
  ir::NodeId last_ = ir::no_node;
};

}  // namespace mase::sharding
