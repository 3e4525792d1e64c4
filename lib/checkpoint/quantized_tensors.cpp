// SPDX-License-Identifier: Apache-2.0
// Visits the ports of a graph.
#include "checkpoint/quantized_tensors.hpp"

#include "ir/op_table.hpp"

namespace mase::checkpoint {

std::vector<QuantizedTensor> quantized_tensors(const ir::Graph& graph) {
  std::vector<QuantizedTensor> found;
  for (const ir::NodeId id : graph.order()) {
    const ir::Node& node = graph.node(id);
    if (node.formats.empty()) continue;
    for (const ir::Port& port : ir::ports(graph, node)) {
      const auto format = node.formats.find(port.name);
      const std::string* path =
          port.tensor.empty() ? graph.tensor_of(node, port.argument) : &port.tensor;
      if (format != node.formats.end() && path)
        found.push_back({node.name, port.name, *path, format->second});
    }
  }
  return found;
}

}  // namespace mase::checkpoint
