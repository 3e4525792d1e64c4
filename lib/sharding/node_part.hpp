// SPDX-License-Identifier: Apache-2.0
// One device's part of a node: what changes besides the tensors that it reads.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.hpp"
#include "sharding/layout_metadata.hpp"

namespace mase::sharding {

/// A node of the whole graph, and the device that computes a part of it.
struct NodePart {
  const ir::Node& whole;
  const std::vector<Operand>& operands;
  const StoredLayout& layout;
  const Mesh& mesh;
  std::int64_t rank;
};

/// Makes the node in `graph`, whose arguments are parts already, compute this device's part:
///
/// - Its shape, and shapes among its arguments, become those of the part.
/// - The number of its groups becomes that of the groups that this device has.
/// - A lookup in some rows of a table subtracts the number of the first one from the indices. What
///   indices of other devices give becomes -0, since x + -0 is x for every x: the sum over all
///   devices has the bits of the whole lookup. An index outside of the whole table remains an
///   error, of the first or the last device.
///
/// Nodes that this takes stand in front of `next`. Returns the node that has the result.
ir::NodeId compute_part(ir::Graph& graph, const NodePart& part, ir::NodeId next);

/// Divides the number of groups among the arguments of a node or its layer by the devices that
/// share them.
void divide_groups(std::vector<ir::Argument>& arguments, const NodePart& part);

/// A node that calls an operator; it has no name and no info yet.
ir::Node call_of(std::string op, std::vector<ir::Argument> args);

}  // namespace mase::sharding
