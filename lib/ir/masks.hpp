// SPDX-License-Identifier: Apache-2.0
// Attention masks: numbers that hide an element from a softmax, and where a graph has them.
#pragma once

#include <set>

#include "ir/graph.hpp"

namespace mase::ir {

/// Numbers at or below this bound are masks: -inf and the least float32 are, finite scores are not.
inline constexpr double mask_bound = -0x1p100;

/// The nodes whose results can hold masks that only hide elements of a softmax. A format that
/// rounds such a result, at the node or at a reader, keeps masks as -inf.
///
/// Masks come from masked_fill, where and mul with a constant at or below `mask_bound`, from
/// constant tensors, and from inputs that are added to something. They pass through sums (add, sub,
/// addmm, baddbmm), positive factors and divisors, masked_fill, where, bounds that are masks
/// themselves, cat, and ops that only move elements. A result with any other reader has no masks.
class Masks {
 public:
  /// Another `bound` finds where numbers at or below that bound would be masks.
  explicit Masks(const Graph& graph, double bound = mask_bound);

  const std::set<NodeId>& nodes() const { return results_; }
  bool in(NodeId id) const { return results_.contains(id); }
  /// True when a value refers to a node with such a result.
  bool in(const Value& value) const;
  /// True for a softmax of such a result that is rounded: it gives masked elements 0, even in a row
  /// that holds only masks.
  bool hide(const Node& node) const;

 private:
  std::set<NodeId> results_;
};

}  // namespace mase::ir
