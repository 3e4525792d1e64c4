// SPDX-License-Identifier: Apache-2.0
// Selects the ports; the calibrator does the rest.
#include "passes/transform/calibrate.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "passes/calibration/calibrator.hpp"

namespace mase::passes {
namespace {

bool chosen(const std::vector<std::string>& names, const std::string& name) {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

void check_nodes(const ir::Graph& graph, const std::vector<std::string>& nodes) {
  for (const std::string& node : nodes)
    if (!graph.find_node(node)) config_error(graph.unknown_node(node));
}

}  // namespace

Result Calibrate::run(ir::Graph& graph, const Options& options, PassContext& context) {
  check_nodes(graph, options.nodes);
  std::vector<PortName> ports;
  for (ir::NodeId id : graph.order()) {
    const ir::Node& node = graph.node(id);
    for (const auto& [port, format] : node.formats)
      if (chosen(options.nodes, node.name) && chosen(options.ports, port) &&
          !formats::find_format(format.name())->calibrated.empty())
        ports.push_back({node.name, port});
  }
  Result result;
  if (ports.empty())
    result.notes.emplace_back(
        "nothing to calibrate: no chosen port has a format with a free range; "
        "run quantize first");
  calibrate_ports(graph, ports, options, context, result);
  result.changed = !ports.empty();
  return result;
}

}  // namespace mase::passes
