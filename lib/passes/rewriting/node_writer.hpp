// SPDX-License-Identifier: Apache-2.0
// Writing the plain nodes that one node stands for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.hpp"

namespace mase::passes {

/// Puts calls of operators in front of a node, each as torch.fx writes it.
class NodeWriter {
 public:
  /// Results are tensors of `dtype` where nothing else is said.
  NodeWriter(ir::Graph& graph, ir::NodeId before, DType dtype);

  /// Nodes from here on are called `prefix`, or `prefix_PART`.
  void begin(std::string prefix) { prefix_ = std::move(prefix); }
  /// A call of an operator of the table.
  ir::NodeId call(std::string_view op, const std::string& part, std::vector<ir::Argument> args,
                  ir::ValueInfo info);
  ir::NodeId call(std::string_view op, const std::string& part, std::vector<ir::Argument> args,
                  Shape shape);
  /// The size of a dimension, read when the graph runs.
  ir::NodeId size(ir::NodeId tensor, std::int64_t dim, const std::string& part);

  static ir::Value ref(ir::NodeId id) { return ir::NodeRef{id}; }

 private:
  ir::Graph& graph_;
  ir::NodeId before_;
  DType dtype_;
  std::string prefix_;
};

}  // namespace mase::passes
