// SPDX-License-Identifier: Apache-2.0
// Operators and number formats of this program as operators of ATen.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "ir/graph.hpp"

namespace mase::pt2 {

/// A graph of ATen's operators, and what its nodes come from.
struct Expanded {
  ir::Graph graph;
  std::map<ir::NodeId, ir::Node> origins;    ///< of new nodes: those of the first graph
  std::set<std::string> constants;           ///< tensors that the first graph does not have
  std::map<ir::NodeId, std::int64_t> sizes;  ///< integers that new nodes compute
  std::vector<std::string> losses;           ///< a line for each format that was left out
};

/// Replaces subscripts of tensors, and functions that ATen has in several steps, by these steps,
/// and the formats of ports by their quantizers. Nodes without a counterpart stay.
Expanded expand_operators(const ir::Graph& graph);

}  // namespace mase::pt2
