// SPDX-License-Identifier: Apache-2.0
// The sizes of a graph as exported programs say them: numbers, and expressions of the sizes that
// may vary.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/tree.hpp"
#include "ir/graph.hpp"
#include "pt2/export/free_sizes.hpp"

namespace mase::pt2 {

/// A size for the graph's own inputs, and its expression if it varies.
struct Size {
  std::int64_t value = 0;
  std::string expression;  ///< as sympy reads it, or ""

  bool varies() const { return !expression.empty(); }
  /// {"as_int": 4}, or {"as_expr": ...}.
  Tree tree() const;
};

class Sizes {
 public:
  explicit Sizes(const ir::Graph& graph) : measure_(graph), free_(measure_) {}
  Sizes(const Sizes&) = delete;
  Sizes& operator=(const Sizes&) = delete;

  /// The sizes of inputs that may vary.
  const std::vector<Axis>& axes() const { return free_.axes(); }
  /// Their range_constraints.
  Tree ranges() const;
  const ir::ValueInfo& info(ir::NodeId id) const { return measure_.graph().node(id).info; }
  /// A tensor's dtype, sizes and strides as the schema writes them. `place` leads to an element of
  /// a container.
  Tree tensor_meta(ir::NodeId id, const std::vector<std::size_t>& place, bool grad) const;
  /// An integer of the host; nullopt if its value is not known.
  std::optional<Size> integer(ir::NodeId id) const;
  Size size(ir::NodeId id, std::size_t dim) const;

 private:
  Size size_at(std::size_t place) const;

  Measure measure_;
  FreeSizes free_;
};

/// The dtype, sizes and strides of a tensor of fixed sizes that is contiguous.
Tree tensor_meta(DType dtype, const Shape& shape, bool grad);

}  // namespace mase::pt2
