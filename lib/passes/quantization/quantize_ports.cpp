// SPDX-License-Identifier: Apache-2.0
// The ports that the op table gives, with what the graph knows about their tensors.
#include "passes/quantization/quantize_ports.hpp"

#include "ir/op_table.hpp"

namespace mase::passes {
namespace {

void add_shape(const ir::ValueInfo& info, std::vector<Shape>& shapes) {
  if (info.is_tensor() && info.dtype == DType::float32) shapes.push_back(info.shape);
}

std::vector<Shape> shapes_of(const ir::Graph& graph, const ir::Port& port) {
  std::vector<Shape> shapes;
  if (port.inner) return {*port.inner};
  if (!port.tensor.empty()) {
    const Array& value = graph.tensors.at(port.tensor).value;
    add_shape(ir::ValueInfo::tensor(value.dtype(), value.shape()), shapes);
  }
  port.value.for_each_node([&](ir::NodeId id) { add_shape(graph.node(id).info, shapes); });
  return shapes;
}

}  // namespace

std::set<std::string> float_ports(const ir::Graph& graph, const ir::Node& node) {
  std::set<std::string> names;
  for (const ir::Port& port : ir::ports(graph, node))
    if (!shapes_of(graph, port).empty()) names.insert(port.name);
  if (!port_shapes(graph, node, "data_out").empty()) names.insert("data_out");
  return names;
}

std::vector<Shape> port_shapes(const ir::Graph& graph, const ir::Node& node,
                               const std::string& port) {
  std::vector<Shape> shapes;
  if (port == "data_out") add_shape(node.info, shapes);
  for (const ir::Port& one : ir::ports(graph, node))
    if (one.name == port)
      for (Shape& shape : shapes_of(graph, one)) shapes.push_back(std::move(shape));
  return shapes;
}

bool carries_data(const ir::Graph& graph, const ir::Node& node, const std::string& name) {
  if (name == "data_out") return true;
  for (const ir::Port& port : ir::ports(graph, node)) {
    bool computed = false;
    port.value.for_each_node([&](ir::NodeId id) {
      computed = computed || graph.node(id).kind != ir::NodeKind::get_attr;
    });
    if (port.name == name && computed) return true;
  }
  return false;
}

std::vector<std::string> shape_faults(const ir::Graph& graph, const ir::Node& node) {
  std::vector<std::string> faults;
  for (const auto& [port, format] : node.formats) {
    const std::string where = "node '" + node.name + "', port " + port + ": ";
    if (format.per_channel() && carries_data(graph, node, port)) {
      faults.push_back(where +
                       "granularity = \"channel\" is for parameters, whose first dimension is the "
                       "channels; use granularity = \"tensor\" for data");
      continue;
    }
    for (const Shape& shape : port_shapes(graph, node, port)) {
      try {
        format.check(shape);
      } catch (const Error& error) {
        faults.push_back(where + format.short_text() + " of a tensor " + shape_text(shape) + ": " +
                         error.what());
      }
    }
  }
  return faults;
}

}  // namespace mase::passes
