// SPDX-License-Identifier: Apache-2.0
// Masks of attention: numbers that hide an element from a softmax, and where in a graph they are.
#pragma once

#include <set>

#include "ir/graph.hpp"

namespace mase::ir {

/// A number from here on down is a mask: no finite score reaches it, -inf and the least float32 do.
inline constexpr double mask_bound = -0x1p100;

/// Nodes whose results can hold masks that hide elements of a softmax and do nothing else: a format
/// that rounds such a result, of the node or of a reader, leaves masks as -inf.
///
/// Masks come from masked_fill, where and mul with a constant from `mask_bound` on down, from
/// constant tensors, and from inputs that are added to something. They pass sums (add, sub, addmm,
/// baddbmm), positive factors and divisors, masked_fill, where, bounds that are masks themselves,
/// cat, and what only moves elements. A result that anything else reads, too, has none.
class Masks {
 public:
  /// With another bound: where numbers from there on down would be masks.
  explicit Masks(const Graph& graph, double bound = mask_bound);

  const std::set<NodeId>& nodes() const { return results_; }
  bool in(NodeId id) const { return results_.contains(id); }
  /// Whether one of the nodes in a value has such a result.
  bool in(const Value& value) const;
  /// Of a softmax of such a result that is rounded: it gives masked elements 0, in a row of masks
  /// alone, too.
  bool hide(const Node& node) const;

 private:
  std::set<NodeId> results_;
};

}  // namespace mase::ir
