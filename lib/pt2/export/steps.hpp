// SPDX-License-Identifier: Apache-2.0
// Steps: operators of ATen that are put in front of a node.
#pragma once

#include <string>
#include <vector>

#include "pt2/export/expand.hpp"

namespace mase::pt2 {

class Steps {
 public:
  /// Adds in front of the node `before`; `origin` is what the steps come from.
  Steps(Expanded& expanded, ir::NodeId before, ir::Node origin)
      : expanded_(expanded), before_(before), origin_(std::move(origin)) {}

  const ir::Graph& graph() const { return expanded_.graph; }
  const ir::ValueInfo& info(ir::NodeId id) const { return expanded_.graph.node(id).info; }
  ir::NodeId add(std::string op, std::vector<ir::Argument> args);
  /// A node that reads a new tensor, which is a constant of the program.
  ir::NodeId constant(const std::string& wanted, Array value);
  /// A node that reads a tensor of the graph.
  ir::NodeId tensor(const std::string& path);
  /// x[items]. As in Python, integers, slices and None are applied one by one, and tensors together
  /// at the end.
  ir::NodeId subscript(ir::NodeId base, const std::vector<ir::Value>& items);

 private:
  Expanded& expanded_;
  ir::NodeId before_;
  ir::Node origin_;
};

/// Writes a recurrent layer or cell (recurrent.cpp); false, and nothing is done, for other nodes.
bool expand_recurrent(Expanded& expanded, ir::NodeId id);

}  // namespace mase::pt2
