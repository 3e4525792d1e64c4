// SPDX-License-Identifier: Apache-2.0
// Moves formats from nodes that round to ports.
#include "onnx/import/place_formats.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "base/error.hpp"
#include "base/text.hpp"
#include "ir/op_table.hpp"

namespace mase::onnx {
namespace {

/// Whether a format leaves every value of a tensor as it is.
bool holds(const formats::Format& format, const Array& array) {
  try {
    format.check(array.shape());
  } catch (const Error&) {
    return false;
  }
  const Array values = array.to_float32();
  Array rounded = values;
  format.quantize(values.span<float>(), rounded.mutable_span<float>(), values.shape());
  return std::ranges::equal(values.span<float>(), rounded.span<float>());
}

bool takes_steps(const ir::Port& port) { return port.name == "weight" || port.name == "bias"; }

/// The first format that holds a tensor at a port; only weights and biases have steps of channels.
std::optional<formats::Format> format_at(const ir::Graph& graph, const ir::Port& port,
                                         const std::string& path, const FormatsOfTensors& formats) {
  const Array& value = graph.tensors.at(path).value;
  for (const formats::Format& format : formats.at(path))
    if ((format.name() != "scale_integer" || takes_steps(port)) && holds(format, value))
      return format;
  return std::nullopt;
}

bool is_quantizable(const ir::Graph& graph, const ir::Node& node) {
  const ir::Classified type = ir::classify(graph, node);
  return type.row && type.row->quantizable;
}

/// The ports at which a node reads another; nullopt where they cannot take its format.
std::optional<std::vector<std::string>> free_ports(const ir::Graph& graph, const ir::Node& reader,
                                                   ir::NodeId id) {
  if (!is_quantizable(graph, reader)) return std::nullopt;
  std::vector<std::string> names;
  int reads = 0;
  for (const ir::Argument& argument : reader.args)
    argument.value.for_each_node([&](ir::NodeId one) { reads += one == id ? 1 : 0; });
  for (const ir::Port& port : ir::ports(graph, reader)) {
    if (!port.value.is_node() || port.value.node() != id) continue;
    if (port.name.empty() || reader.formats.contains(port.name)) return std::nullopt;
    names.push_back(port.name);
  }
  if (static_cast<int>(names.size()) != reads) return std::nullopt;
  return names;
}

/// Gives the format of a rounding node to all that read it; false if one of them cannot have it.
bool give_to_readers(ir::Graph& graph, ir::NodeId id, const formats::Format& format) {
  std::vector<std::pair<ir::NodeId, std::string>> places;
  for (const ir::NodeId user : graph.users(id)) {
    const auto ports = free_ports(graph, graph.node(user), id);
    if (!ports) return false;
    for (const std::string& port : *ports) places.emplace_back(user, port);
  }
  for (const auto& [user, port] : places) graph.node(user).formats.emplace(port, format);
  return true;
}

/// Gives the format of a rounding node to its source, if nothing else reads that.
bool give_to_source(ir::Graph& graph, ir::NodeId id, const formats::Format& format) {
  const ir::NodeId from = graph.inputs(id).front();
  ir::Node& source = graph.node(from);
  const bool can = source.kind == ir::NodeKind::placeholder || is_quantizable(graph, source);
  if (!can || source.formats.contains("data_out") || graph.users(from).size() != 1) return false;
  source.formats.emplace("data_out", format);
  return true;
}

void give_away(ir::Graph& graph, ir::NodeId id) {
  const formats::Format format = graph.node(id).formats.at("data_out");
  if (!give_to_readers(graph, id, format) && !give_to_source(graph, id, format)) return;
  graph.replace_uses(id, graph.inputs(id).front());
  graph.erase(id);
}

/// The first names of a list, and how many more there are.
std::string shortened(std::vector<std::string> names) {
  constexpr std::size_t shown = 3;
  if (names.size() <= shown) return join(names, ", ");
  const std::size_t more = names.size() - shown;
  names.resize(shown);
  return join(names, ", ") + " and " + std::to_string(more) + " more";
}

}  // namespace

std::vector<std::string> place_formats(ir::Graph& graph, const FormatsOfTensors& formats) {
  std::set<std::string> float_tensors;
  for (const ir::NodeId id : graph.order()) {
    ir::Node& node = graph.node(id);
    if (!is_quantizable(graph, node)) continue;
    for (const ir::Port& port : ir::ports(graph, node)) {
      const std::string* path = graph.tensor_of(node, port.argument);
      if (!path || !formats.contains(*path)) continue;
      if (auto format = format_at(graph, port, *path, formats))
        node.formats.insert_or_assign(port.name, *format);
      else
        float_tensors.insert(*path);
    }
  }
  const std::vector<ir::NodeId> order = graph.order();
  for (const ir::NodeId id : order)
    if (graph.node(id).op == "mase::identity" && graph.node(id).formats.contains("data_out"))
      give_away(graph, id);
  std::vector<std::string> notes;
  if (!float_tensors.empty())
    notes.push_back("quantized tensors stay float, as no format has the steps of their scales: " +
                    shortened({float_tensors.begin(), float_tensors.end()}));
  return notes;
}

}  // namespace mase::onnx
