// SPDX-License-Identifier: Apache-2.0
// Results are counted for one sample: how many rows a graph was noted with.
#pragma once

#include "ir/graph.hpp"
#include "passes/constants/batch_powers.hpp"

namespace mase::passes {

/// The first dimension of the first tensor input: the batch that the noted shapes stand for; 1
/// where there is none.
std::int64_t noted_batch(const ir::Graph& graph);

/// How many elements of a graph's tensors belong to one sample.
class SampleElements {
 public:
  explicit SampleElements(const ir::Graph& graph) : powers_(graph), batch_(noted_batch(graph)) {}

  std::int64_t batch() const { return batch_; }
  /// Of a node's result, or of all its results: numel / batch where a dimension follows the batch,
  /// wherever it stands, and numel where none does (a table that is computed once). Where that is
  /// not known, a first dimension that is a multiple of the batch follows it.
  double of(const ir::Node& node) const { return of(node.id, node.info); }

 private:
  double of(ir::NodeId id, const ir::ValueInfo& info) const;
  bool has_rows(ir::NodeId id, const Shape& shape) const;

  BatchPowers powers_;
  std::int64_t batch_;
};

}  // namespace mase::passes
