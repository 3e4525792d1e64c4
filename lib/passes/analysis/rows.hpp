// SPDX-License-Identifier: Apache-2.0
// Counting for one sample: the batch of the shapes noted in a graph, and elements per sample.
#pragma once

#include "ir/graph.hpp"
#include "passes/constants/batch_powers.hpp"

namespace mase::passes {

/// The batch of the shapes noted in the graph: the first dimension of the first tensor input; 1
/// when no input has one.
std::int64_t noted_batch(const ir::Graph& graph);

/// The number of elements of a graph's tensors that belong to one sample.
class SampleElements {
 public:
  explicit SampleElements(const ir::Graph& graph) : powers_(graph), batch_(noted_batch(graph)) {}

  std::int64_t batch() const { return batch_; }
  /// The elements of a node's result, or of all its results: numel / batch when a dimension follows
  /// the batch, numel otherwise (a table that is computed once). When that is not known, a first
  /// dimension that is a multiple of the batch is taken to follow it.
  double of(const ir::Node& node) const { return of(node.id, node.info); }

 private:
  double of(ir::NodeId id, const ir::ValueInfo& info) const;
  bool has_rows(ir::NodeId id, const Shape& shape) const;

  BatchPowers powers_;
  std::int64_t batch_;
};

}  // namespace mase::passes
