// SPDX-License-Identifier: Apache-2.0
// Which sizes of a graph follow the batch of its inputs, and by which expression.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "base/tree.hpp"
#include "ir/graph.hpp"

namespace mase::pt2 {

/// The symbol that stands for the batch.
inline constexpr std::string_view batch_symbol = "s0";

/// A size for the graph's own batch, and for two others.
using BatchSize = std::array<std::int64_t, 3>;

/// Infers a graph for its own batch and for others. Where all sizes are a * batch + b, the batch is
/// free; where a rule is missing or a size is another function of it, all sizes are fixed.
class Sizes {
 public:
  explicit Sizes(const ir::Graph& graph);

  bool any_batch() const { return any_batch_; }
  const ir::ValueInfo& info(ir::NodeId id) const { return runs_[0].graph.node(id).info; }
  /// A tensor's dtype, sizes and strides as the schema writes them. `place` leads to an element of
  /// a container.
  Tree tensor_meta(ir::NodeId id, const std::vector<std::size_t>& place, bool grad) const;
  /// An integer of the host; nullopt if its value is not known.
  std::optional<BatchSize> integer(ir::NodeId id) const;
  BatchSize size(ir::NodeId id, std::size_t dim) const;
  static bool varies(const BatchSize& size) { return size[0] != size[1]; }
  /// {"as_int": 4}, or {"as_expr": ...}.
  Tree tree(const BatchSize& size) const;

 private:
  /// The graph for one batch, with the values of its integers.
  struct Run {
    ir::Graph graph;
    std::map<ir::NodeId, std::int64_t> integers;
  };
  bool infer_others(const ir::Graph& graph);
  bool is_linear(const BatchSize& size) const;
  bool are_linear(const ir::ValueInfo& a, const ir::ValueInfo& b, const ir::ValueInfo& c) const;

  std::array<Run, 3> runs_;
  std::int64_t batch_ = 1;
  bool any_batch_ = false;
};

/// The dtype, sizes and strides of a tensor of fixed sizes that is contiguous.
Tree tensor_meta(DType dtype, const Shape& shape, bool grad);

}  // namespace mase::pt2
