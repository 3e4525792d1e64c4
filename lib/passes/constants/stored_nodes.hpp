// SPDX-License-Identifier: Apache-2.0
// Which nodes of a graph become tensors.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "passes/constants/constant_part.hpp"
#include "passes/constants/memory_order.hpp"

namespace mase::passes {

/// A node that becomes a tensor.
struct StoredNode {
  ir::NodeId id = ir::no_node;
  /// The dimensions in the order in which they lie in memory; empty: in their own order.
  std::vector<std::size_t> dims;
};

/// The last nodes of the parts that do not depend on the inputs. Such a node computes a tensor that
/// a remaining node reads; the tensor has at most `most_elements` (of one sample when its rows are
/// equal), and no reader notices when a stored tensor, or a permutation of one, replaces it in
/// memory. Running the parts measures the orders in memory. The graph must outlive the object
/// unchanged.
class StoredNodes {
 public:
  struct Limits {
    bool parameters = true;  ///< treat tensors that are trained as constants, too
    std::int64_t most_elements = 0;
  };
  StoredNodes(const ir::Graph& graph, const Limits& limits, const ir::MakeEvaluator& evaluator);

  const ir::Graph& graph() const { return graph_; }
  const ConstantPart& part() const { return part_; }
  const std::vector<StoredNode>& in_order() const { return stored_; }
  const std::vector<std::string>& notes() const { return notes_; }  ///< on nodes that are too large
  Constancy constancy(ir::NodeId id) const { return constants_.of(id); }
  /// True when the rows of a stored node may share memory without a reader noticing; otherwise they
  /// are copied.
  bool may_overlap(ir::NodeId id) const;

 private:
  void measure(bool has_evaluator);
  bool is_candidate(const ir::Node& node) const;
  bool has_foreign_order(const ir::Node& node) const;
  void visit(const ir::Node& node);
  bool is_fit(const ir::Node& node);
  bool keeps_order(const ir::Node& node) const;
  bool is_small(const ir::Node& node);
  std::int64_t elements_of(const ir::Node& node) const;

  const ir::Graph& graph_;
  std::int64_t most_elements_;
  BatchPowers powers_;
  ConstantNodes constants_;
  ConstantPart part_;
  std::map<ir::NodeId, Shape> strides_;
  std::set<ir::NodeId> foreign_;  ///< nodes whose order follows that of a tensor that varies
  std::map<ir::NodeId, std::vector<ir::NodeId>> readers_;  ///< the readers that remain
  std::vector<StoredNode> stored_;
  std::int64_t elements_left_ = 0;  ///< elements that may still be stored
  std::vector<std::string> notes_;
};

}  // namespace mase::passes
