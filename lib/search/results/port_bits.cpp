// SPDX-License-Identifier: Apache-2.0
// Lists the formats of a model port by port.
#include <array>

#include "ir/op_table.hpp"
#include "passes/quantization/quantize_ports.hpp"
#include "search/results/result.hpp"

namespace mase::search {
namespace {

constexpr std::array ports{"weight", "bias", "data_in", "data_in_1"};

void add_ports(const ir::Graph& graph, const ir::Node& node, std::vector<PortBits>& out) {
  for (const char* port : ports) {
    const std::vector<Shape> shapes = passes::port_shapes(graph, node, port);
    if (shapes.empty()) continue;
    constexpr double float_bits = 32;
    PortBits& entry =
        out.emplace_back(PortBits{node.name, port, "float32", float_bits, float_bits});
    const auto format = node.formats.find(port);
    if (format == node.formats.end()) continue;
    entry.format = format->second.text();
    entry.bits = format->second.bits_per_element(shapes.front());
  }
}

}  // namespace

std::vector<PortBits> port_bits(const ir::Graph& graph) {
  std::vector<PortBits> out;
  for (const ir::NodeId id : graph.order()) {
    const ir::Classified type = ir::classify(graph, graph.node(id));
    if (type.row && type.row->quantizable) add_ports(graph, graph.node(id), out);
  }
  return out;
}

}  // namespace mase::search
