// SPDX-License-Identifier: Apache-2.0
// Goes forwards from a result through ops without formats to ports that have formats.
#include "passes/quantization/readers_format.hpp"

#include <algorithm>
#include <array>

#include "ir/dimension_map.hpp"

namespace mase::passes {
namespace {

/// True when an op only clamps, chooses or moves values: its input may be rounded in place of its
/// result, as hardware does.
bool passes_values_on(const ir::Classified& type) {
  if (ir::only_moves(type.family()) || type.family() == ir::OpFamily::concatenation) return true;
  constexpr std::array clamps{"relu", "relu6", "hardtanh", "max_pool1d", "max_pool2d"};
  return std::ranges::find(clamps, type.op) != clamps.end();
}

}  // namespace

const formats::Format* format_at(const ir::Node& node, const std::string& port) {
  const auto found = node.formats.find(port);
  return found == node.formats.end() ? nullptr : &found->second;
}

const formats::Format* data_format(const ir::Graph& graph, const ir::Node& node,
                                   const std::string& port) {
  const formats::Format* own = format_at(node, port);
  if (own || !node.formats.empty() || !passes_values_on(ir::classify(graph, node))) return own;
  return readers_format(graph, node.id);
}

const formats::Format* readers_format(const ir::Graph& graph, ir::NodeId id) {
  const formats::Format* widest = nullptr;
  for (const ir::NodeId user : graph.users(id)) {
    const ir::Node& reader = graph.node(user);
    const ir::Classified type = ir::classify(graph, reader);
    if (type.family() == ir::OpFamily::size) continue;
    const formats::Format* format = nullptr;
    if (reader.formats.empty() && passes_values_on(type))
      format = readers_format(graph, user);
    else
      for (const ir::Port& port : ir::ports(graph, reader))
        port.value.for_each_node([&](ir::NodeId given) {
          if (given == id) format = format_at(reader, port.name);
        });
    if (!format) return nullptr;
    const Shape& shape = graph.node(id).info.shape;
    if (!widest || format->bits_per_element(shape) > widest->bits_per_element(shape))
      widest = format;
  }
  return widest;
}

const formats::Format* parameter_format(const ir::Graph& graph, const std::string& path) {
  const formats::Format* found = nullptr;
  for (const ir::NodeId id : graph.order()) {
    const ir::Node& node = graph.node(id);
    if (node.kind != ir::NodeKind::get_attr || node.target != path) continue;
    found = readers_format(graph, id);
    if (!found) return nullptr;
  }
  return found;
}

}  // namespace mase::passes
