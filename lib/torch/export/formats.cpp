// SPDX-License-Identifier: Apache-2.0
// Finds the formats of exported operators' arguments and results.
#include "torch/export/formats.hpp"

#include <algorithm>
#include <optional>

namespace mase::libtorch {

bool has_nodes(const ir::Value& value) { return first_node(value) != ir::no_node; }

ir::NodeId first_node(const ir::Value& value) {
  ir::NodeId first = ir::no_node;
  value.for_each_node([&](ir::NodeId id) { first = first == ir::no_node ? id : first; });
  return first;
}

bool takes_format(const ir::ValueInfo& info) {
  using Kind = ir::ValueInfo::Kind;
  if (info.kind == Kind::list)
    return std::all_of(info.elements.begin(), info.elements.end(),
                       [](const ir::ValueInfo& element) { return takes_format(element); });
  if (info.kind == Kind::unknown) return true;
  return info.is_tensor() && info.dtype == DType::float32;
}

bool takes_format(const ir::Graph& graph, const ir::Value& value) {
  bool all = true;
  value.for_each_node([&](ir::NodeId id) { all = all && takes_format(graph.node(id).info); });
  return all;
}

int rank_of(const ir::ValueInfo& info) {
  if (info.is_tensor()) return static_cast<int>(info.shape.size());
  int rank = -1;
  for (const ir::ValueInfo& element : info.elements) {
    if (&element != &info.elements.front() && rank_of(element) != rank) return -1;
    rank = rank_of(element);
  }
  return rank;
}

int rank_of(const ir::Graph& graph, const ir::Value& value) {
  std::optional<int> rank;
  value.for_each_node([&](ir::NodeId id) {
    const int own = rank_of(graph.node(id).info);
    rank = rank.value_or(own) == own ? own : -1;
  });
  return rank.value_or(-1);
}

PortFormats::PortFormats(const ir::Graph& graph, const ir::Node& node) {
  if (node.formats.empty()) return;
  for (const ir::Port& port : ir::ports(graph, node)) {
    const auto format = node.formats.find(port.name);
    if (format == node.formats.end() || port.name == "data_out") continue;
    const ir::NodeId source = port.value.is_node() ? port.value.node() : ir::no_node;
    rows_.push_back({port.argument, source, &format->second});
  }
}

const formats::Format* PortFormats::find(const std::string& argument) const {
  return find(argument, ir::no_node);
}

const formats::Format* PortFormats::find(const std::string& argument, ir::NodeId source) const {
  for (const Row& row : rows_)
    if (row.argument == argument && (row.source == ir::no_node || row.source == source))
      return row.format;
  return nullptr;
}

MethodBuilder::JitValue* quantize_output(MethodBuilder& builder, const ir::Node& node,
                                         MethodBuilder::JitValue* value, bool keeps_masks) {
  const auto format = node.formats.find("data_out");
  const bool tensor = value->type()->isSubtypeOf(*c10::TensorType::get());
  if (format == node.formats.end() || !tensor || !takes_format(node.info)) return value;
  return builder.quantize(value, format->second, rank_of(node.info), keeps_masks);
}

}  // namespace mase::libtorch
