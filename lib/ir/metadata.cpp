// SPDX-License-Identifier: Apache-2.0
// The parts `common` and `software` of a node's metadata.
#include "ir/metadata.hpp"

#include <algorithm>
#include <array>

#include "ir/node_arguments.hpp"
#include "ir/op_table.hpp"

namespace mase::ir {
namespace {

// Fields of formats that make up a record's precision, in the order in which the format has them:
// integer [width, frac_width], minifloat [width, exponent_width, exponent_bias], ...
constexpr std::array<std::string_view, 12> precision_fields{
    "width",      "frac_width", "exponent_width", "exponent_bias",  "exponent_bias_width",
    "block_size", "stochastic", "bipolar",        "scaling_factor", "mean",
    "median",     "max"};

Tree precision_of(const formats::Format& format) {
  Tree precision = Tree::list();
  const Tree fields = format.fields();
  for (const auto& [name, value] : fields.as_dict())
    if (std::ranges::find(precision_fields, name) != precision_fields.end())
      precision.push_back(value);
  return precision;
}

Tree one_item(Tree item) {
  Tree list = Tree::list();
  list.push_back(std::move(item));
  return list;
}

void set_type(Tree& record, DType dtype, const Node& node, const std::string& port) {
  const auto format = node.formats.find(port);
  if (format != node.formats.end()) {
    record["type"] = format->second.name();
    record["precision"] = precision_of(format->second);
    return;
  }
  record["type"] = dtype == DType::float32 ? "float" : dtype_name(dtype);
  record["precision"] = one_item(8 * size_of(dtype));
}

Tree tensor_record(DType dtype, const Shape& shape, const Node& node, const std::string& port) {
  Tree record = Tree::dict();
  record["shape"] = Tree::list_of(shape);
  record["torch_dtype"] = "torch." + std::string(dtype_name(dtype));
  set_type(record, dtype, node, port);
  return record;
}

struct HostType {
  std::string_view name;
  Tree precision;  ///< bits; null where a width makes no sense
  Tree shape;
};

HostType host_type(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::boolean:
      return {"bool", one_item(1), one_item(1)};
    case Value::Kind::integer:
      return {"int", one_item(64), one_item(1)};
    case Value::Kind::number:
      return {"float", one_item(64), one_item(1)};
    case Value::Kind::training:
      return {"bool", one_item(1), one_item(1)};
    case Value::Kind::string:
      return {"str", Tree(), one_item(0)};
    case Value::Kind::list:
      return {"list", Tree(), one_item(value.items().size())};
    case Value::Kind::tuple:
      return {"tuple", Tree(), one_item(value.items().size())};
    case Value::Kind::slice:
      return {"slice", Tree(), one_item(0)};
    case Value::Kind::dict:
      return {"dict", Tree(), one_item(value.entries().size())};
    default:
      return {"NoneType", Tree(), Tree()};
  }
}

std::string_view host_name(ValueInfo::Kind kind) {
  switch (kind) {
    case ValueInfo::Kind::integer:
      return "int";
    case ValueInfo::Kind::number:
      return "float";
    case ValueInfo::Kind::boolean:
      return "bool";
    case ValueInfo::Kind::string:
      return "str";
    case ValueInfo::Kind::none:
      return "NoneType";
    case ValueInfo::Kind::list:
      return "list";
    case ValueInfo::Kind::tuple:
      return "tuple";
    case ValueInfo::Kind::dict:
      return "dict";
    default:
      return "unknown";
  }
}

Tree constant_record(const Graph& graph, const Value& value) {
  const HostType host = host_type(value);
  Tree record = Tree::dict();
  record["shape"] = host.shape;
  record["torch_dtype"] = Tree();
  record["type"] = host.name;
  record["precision"] = host.precision;
  record["value"] = value_json(graph, value);
  return record;
}

// The record of the tensor that `info` describes, or of a host value, which has shape [1].
Tree info_record(const ValueInfo& info, const Node& node, const std::string& port) {
  if (info.is_tensor()) return tensor_record(info.dtype, info.shape, node, port);
  Tree record = Tree::dict();
  record["shape"] = one_item(1);
  record["torch_dtype"] = Tree();
  record["type"] = host_name(info.kind);
  return record;
}

Tree parameter_record(const Graph& graph, const Node& node, const NamedArgument& argument) {
  const auto it = graph.tensors.find(argument.tensor);
  MASE_CHECK(it != graph.tensors.end(),
             "node '" + node.name + "' needs the missing tensor '" + argument.tensor + "'");
  const Array& value = it->second.value;
  Tree record = tensor_record(value.dtype(), value.shape(), node, argument.port);
  record["from"] = Tree();
  return record;
}

Tree argument_record(const Graph& graph, const Node& node, const NamedArgument& argument) {
  if (!argument.tensor.empty()) return parameter_record(graph, node, argument);
  // The reference system stores this one flag as a plain boolean.
  if (argument.name == "inplace") return value_json(graph, argument.value);
  if (!argument.value.is_node()) return constant_record(graph, argument.value);
  return info_record(graph.node(argument.value.node()).info, node, argument.port);
}

std::vector<ValueInfo> results_of(const Graph& graph, const Node& node) {
  if (node.kind == NodeKind::get_attr && graph.tensors.contains(node.target)) {
    const Array& value = graph.tensors.at(node.target).value;
    return {ValueInfo::tensor(value.dtype(), value.shape())};
  }
  if (node.kind == NodeKind::output) {
    std::vector<ValueInfo> results;
    for (const NamedArgument& argument : named_arguments(graph, node))
      if (argument.value.is_node()) results.push_back(graph.node(argument.value.node()).info);
    return results;
  }
  using enum ValueInfo::Kind;
  const bool container =
      node.info.kind == list || node.info.kind == tuple || node.info.kind == dict;
  return container ? node.info.elements : std::vector<ValueInfo>{node.info};
}

bool is_tensor_argument(const Graph& graph, const NamedArgument& argument) {
  if (!argument.tensor.empty()) return true;
  return argument.value.is_node() && graph.node(argument.value.node()).info.is_tensor();
}

Tree statistics_slot() {
  Tree slot = Tree::dict();
  slot["stat"] = Tree::dict();
  return slot;
}

std::string result_name(std::size_t i) { return "data_out_" + std::to_string(i); }

}  // namespace

Tree common_metadata(const Graph& graph, const Node& node) {
  const Classified what = classify(graph, node);
  Tree common = Tree::dict();
  common["mase_type"] = mase_type_name(what.type);
  common["mase_op"] = what.op;
  Tree args = Tree::dict(), results = Tree::dict();
  for (const NamedArgument& argument : named_arguments(graph, node))
    args[argument.name] = argument_record(graph, node, argument);
  const std::vector<ValueInfo> infos = results_of(graph, node);
  for (std::size_t i = 0; i < infos.size(); ++i)
    results[result_name(i)] = info_record(infos[i], node, "data_out");
  common["args"] = std::move(args);
  common["results"] = std::move(results);
  return common;
}

Tree software_metadata(const Graph& graph, const Node& node) {
  Tree args = Tree::dict(), results = Tree::dict();
  for (const NamedArgument& argument : named_arguments(graph, node))
    if (is_tensor_argument(graph, argument)) args[argument.name] = statistics_slot();
  const std::vector<ValueInfo> infos = results_of(graph, node);
  for (std::size_t i = 0; i < infos.size(); ++i)
    if (infos[i].is_tensor() && node.kind != NodeKind::output)
      results[result_name(i)] = statistics_slot();
  Tree software = Tree::dict();
  software["args"] = std::move(args);
  software["results"] = std::move(results);
  return software;
}

}  // namespace mase::ir
