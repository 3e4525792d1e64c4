// SPDX-License-Identifier: Apache-2.0
// A parameter is quantized when a port that reads it, or a part of it, has a format, directly or
// after ops that only move it.
#include "passes/quantization/float_share.hpp"

#include "base/text.hpp"
#include "ir/op_table.hpp"
#include "ir/tensor_readers.hpp"
#include "passes/analysis/operations.hpp"
#include "passes/quantization/readers_format.hpp"

namespace mase::passes {
namespace {

std::string part_text(double part, double whole, const char* what) {
  return fixed_text(part, 0) + " of " + fixed_text(whole, 0) + " " + what + " (" +
         fixed_text(100 * part / whole, 1) + " %)";
}

/// The first names of a list, and the number of the others.
std::string shortened(const std::vector<std::string>& names) {
  constexpr std::size_t most = 5;
  if (names.size() <= most) return join(names, ", ");
  const std::vector<std::string> first(names.begin(), names.begin() + most);
  return join(first, ", ") + " and " + std::to_string(names.size() - most) + " more";
}

}  // namespace

std::string FloatShare::text() const {
  std::vector<std::string> parts;
  if (float_parameters > 0) parts.push_back(part_text(float_parameters, parameters, "parameters"));
  if (float_macs > 0) parts.push_back(part_text(float_macs, macs, "MACs"));
  return join(parts, " and ") + ", at " + shortened(nodes.empty() ? tensors : nodes);
}

Tree FloatShare::tree() const {
  Tree tree = Tree::dict();
  tree["parameters"] = count_tree(parameters);
  tree["float_parameters"] = count_tree(float_parameters);
  tree["macs"] = count_tree(macs);
  tree["float_macs"] = count_tree(float_macs);
  return tree;
}

FloatShare float_share(const ir::Graph& graph) {
  FloatShare share;
  const auto readers = ir::tensor_readers(graph);
  const auto is_quantized = [&](const std::string& path) {
    const auto found = readers.find(path);
    return (found != readers.end() && found->second.format) || parameter_format(graph, path);
  };
  for (const auto& [path, tensor] : graph.tensors) {
    if (!tensor.is_parameter) continue;
    share.parameters += double(tensor.value.size());
    if (is_quantized(path)) continue;
    share.float_parameters += double(tensor.value.size());
    share.tensors.push_back(path);
  }
  OperationCounter counter(graph);
  for (const ir::NodeId id : graph.order()) {
    const ir::Node& node = graph.node(id);
    const double macs = counter.count(node).macs;
    share.macs += macs;
    if (macs == 0 || !node.formats.empty()) continue;
    share.float_macs += macs;
    share.nodes.push_back("'" + node.name + "' (" + ir::classify(graph, node).op + ")");
  }
  return share;
}

}  // namespace mase::passes
