// SPDX-License-Identifier: Apache-2.0
// Which nodes of a graph are to become tensors.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "passes/constants/constant_nodes.hpp"
#include "passes/constants/memory_order.hpp"

namespace mase::passes {

/// The last nodes of the parts that do not depend on the inputs: they compute a tensor, a node that
/// stays reads it, and it has at most `most_elements` (of one sample, where it has equal rows) and
/// an order in memory that a stored tensor can have without a reader noticing. The graph must
/// outlive the object unchanged.
class StoredNodes {
 public:
  StoredNodes(const ir::Graph& graph, bool parameters, std::int64_t most_elements);

  const ir::Graph& graph() const { return graph_; }
  const std::vector<ir::NodeId>& in_order() const { return stored_; }
  const std::vector<std::string>& notes() const { return notes_; }  ///< of nodes that are too large
  Constancy constancy(ir::NodeId id) const { return constants_.of(id); }
  /// Whether rows that share their memory do for the readers of a stored node; else they are
  /// copied.
  bool may_overlap(ir::NodeId id) const;

 private:
  void visit(const ir::Node& node);
  bool is_fit(const ir::Node& node);
  bool keeps_order(const ir::Node& node) const;
  bool is_small(const ir::Node& node);

  const ir::Graph& graph_;
  std::int64_t most_elements_;
  BatchPowers powers_;
  ConstantNodes constants_;
  std::map<ir::NodeId, MemoryOrder> orders_;
  std::map<ir::NodeId, std::vector<ir::NodeId>> readers_;  ///< those that stay
  std::vector<ir::NodeId> stored_;
  std::vector<std::string> notes_;
};

}  // namespace mase::passes
