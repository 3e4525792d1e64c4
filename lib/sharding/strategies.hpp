// SPDX-License-Identifier: Apache-2.0
// The ways in which the devices of a mesh can compute one node together.
#pragma once

#include <functional>
#include <vector>

#include "sharding/layout.hpp"
#include "sharding/splits.hpp"

namespace mase::sharding {

/// One way: the layout in which each operand is read, that of the result as it is computed, and
/// the cost.
struct Strategy {
  std::vector<Layout> operands;
  Layout result;
  double seconds = 0;  ///< of computing, on each device (roofline.hpp)
  double bytes = 0;    ///< of stored operands, on each device
  bool operator==(const Strategy&) const = default;
};

/// What the search asks about the graph.
struct Demands {
  std::function<double(const ir::Node&)> flops;  ///< operations of a node; 0 for one without
  /// Whether a dimension of a result must stay whole; empty where any may be split.
  std::function<bool(const ir::Node&, std::size_t dim)> keeps_whole;
};

/// Seconds of one device that computes the whole node.
double whole_seconds(const Mesh& mesh, const ir::Node& node, const std::vector<Operand>& operands,
                     const Demands& demands);

/// All ways: each axis of the mesh shares one of the node's loops, or none of them. The first one
/// shares none, so every device computes the whole node.
std::vector<Strategy> strategies_of(const Mesh& mesh, const ir::Node& node,
                                    const std::vector<Operand>& operands,
                                    const std::vector<Split>& splits, const Demands& demands);

}  // namespace mase::sharding
