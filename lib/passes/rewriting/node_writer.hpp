// SPDX-License-Identifier: Apache-2.0
// Writes the plain nodes that together replace one node.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.hpp"

namespace mase::passes {

/// Puts calls of operators in front of a node, written as torch.fx writes them.
class NodeWriter {
 public:
  /// Results are tensors of `dtype` unless a call says otherwise.
  NodeWriter(ir::Graph& graph, ir::NodeId before, DType dtype);

  /// Names the following nodes `prefix`, or `prefix_PART`.
  void begin(std::string prefix) { prefix_ = std::move(prefix); }
  /// Adds a call of an operator of the op table.
  ir::NodeId call(std::string_view op, const std::string& part, std::vector<ir::Argument> args,
                  ir::ValueInfo info);
  ir::NodeId call(std::string_view op, const std::string& part, std::vector<ir::Argument> args,
                  Shape shape);
  /// Adds a node that reads the size of a dimension when the graph runs.
  ir::NodeId size(ir::NodeId tensor, std::int64_t dim, const std::string& part);

  static ir::Value ref(ir::NodeId id) { return ir::NodeRef{id}; }

 private:
  ir::Graph& graph_;
  ir::NodeId before_;
  DType dtype_;
  std::string prefix_;
};

}  // namespace mase::passes
