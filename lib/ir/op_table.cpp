// SPDX-License-Identifier: Apache-2.0
// Joins the rows to one table, looks rows up, and classifies nodes by them.
#include "ir/op_table.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <utility>

#include "base/crash.hpp"
#include "ir/custom_op.hpp"
#include "ir/op_rows.hpp"

namespace mase::ir {

namespace {

std::vector<OpRow> joined_rows() {
  std::vector<OpRow> rows;
  for (auto&& part :
       {layer_rows(), recurrent_rows(), activation_rows(), arithmetic_rows(), shape_rows()})
    rows.insert(rows.end(), part.begin(), part.end());
  for (OpRow& row : rows) {
    for (CallRow& call : row.calls) call.op = row.name;
    for (LayerRow& module : row.modules) module.op = row.name;
  }
  return rows;
}

template <class Row>
std::map<std::string_view, const Row*> index_by(const std::vector<Row>& rows,
                                                std::string_view Row::*key) {
  std::map<std::string_view, const Row*> index;
  for (const Row& row : rows) index.emplace(row.*key, &row);
  return index;
}

template <class Row>
const Row* search(const std::map<std::string_view, const Row*>& index, std::string_view key) {
  const auto it = index.find(key);
  return it == index.end() ? nullptr : it->second;
}

}  // namespace

const std::vector<OpRow>& op_table() {
  static const std::vector<OpRow> rows = joined_rows();
  return rows;
}

const std::vector<LayerRow>& layer_table() {
  static const std::vector<LayerRow> rows = [] {
    std::vector<LayerRow> all;
    for (const OpRow& row : op_table())
      all.insert(all.end(), row.modules.begin(), row.modules.end());
    return all;
  }();
  return rows;
}

const std::vector<CallRow>& call_table() {
  static const std::vector<CallRow> rows = [] {
    std::vector<CallRow> all;
    for (const OpRow& row : op_table())
      std::ranges::copy_if(row.calls, std::back_inserter(all),
                           [](const CallRow& call) { return !call.target.empty(); });
    return all;
  }();
  return rows;
}

const OpRow* find_op(std::string_view name) {
  static const auto index = index_by(op_table(), &OpRow::name);
  return search(index, name);
}

const LayerRow* find_module_class(std::string_view class_name) {
  static const auto index = index_by(layer_table(), &LayerRow::class_name);
  return search(index, class_name);
}

const CallRow* find_call(std::string_view aten_base) {
  static const auto index = index_by(call_table(), &CallRow::aten);
  return search(index, aten_base);
}

bool computes(const LayerRow& layer, std::string_view op) {
  const OpRow* row = find_op(layer.op);
  return row && std::ranges::any_of(row->calls,
                                    [&](const CallRow& call) { return call.aten == base_op(op); });
}

OpFamily family_of(std::string_view op) {
  const OpRow* row = find_op(op);
  return row ? row->family : OpFamily::other;
}

const PythonSignature* python_signature(std::string_view target) {
  static const auto index = [] {
    std::map<std::string_view, const PythonSignature*> by_target;
    for (const CallRow& call : call_table())
      if (!call.signature.empty()) by_target.emplace(call.target, &call.signature);
    return by_target;
  }();
  const auto it = index.find(target);
  return it == index.end() ? nullptr : it->second;
}

std::string_view mase_type_name(MaseType type) {
  switch (type) {
    case MaseType::module:
      return "module";
    case MaseType::module_related_func:
      return "module_related_func";
    case MaseType::builtin_func:
      return "builtin_func";
    case MaseType::implicit_func:
      return "implicit_func";
    case MaseType::placeholder:
      return "placeholder";
    case MaseType::get_attr:
      return "get_attr";
    case MaseType::output:
      return "output";
  }
  return "?";
}

std::string_view base_op(std::string_view op) { return op.substr(0, op.find('.')); }

namespace {

/// x &= y and its like, whose names do not end as those of other operators in place.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> augmented_assignments{
    {{"aten::__iand__", "aten::__and__"},
     {"aten::__ior__", "aten::__or__"},
     {"aten::__ixor__", "aten::__xor__"},
     {"aten::__ilshift__", "aten::__lshift__"},
     {"aten::__irshift__", "aten::__rshift__"}}};

}  // namespace

std::string_view plain_op(std::string_view op) {
  std::string_view base = base_op(op);
  for (const auto& [in_place, plain] : augmented_assignments)
    if (base == in_place) return plain;
  if (base.ends_with('_') && !base.ends_with("__")) base.remove_suffix(1);
  return base;
}

namespace {

std::string_view without_namespace(std::string_view op) {
  const std::size_t colons = op.find("::");
  return colons == std::string_view::npos ? op : op.substr(colons + 2);
}

Classified classify_operator(std::string_view op) {
  const std::string_view base = base_op(op);
  if (const CallRow* call = find_call(base)) {
    const OpRow* row = find_op(call->op);
    return {row->type, std::string(row->name), row};
  }
  return {MaseType::builtin_func, std::string(without_namespace(base)), nullptr};
}

Classified classify_module(const Module& module) {
  const LayerRow* known = find_module_class(module.class_name);
  if (known) return {known->type, std::string(known->op), find_op(known->op)};
  Classified found = classify_operator(module.op);
  if (found.row) found.type = MaseType::module_related_func;
  return found;
}

}  // namespace

Classified classify(const Graph& graph, const Node& node) {
  Running::look_at(node.name);
  if (const CustomOp* own = custom_op(graph, node)) return {own->row.type, own->name, &own->row};
  switch (node.kind) {
    case NodeKind::placeholder:
      return {MaseType::placeholder, "placeholder", nullptr};
    case NodeKind::output:
      return {MaseType::output, "output", nullptr};
    case NodeKind::get_attr:
      return {MaseType::get_attr, "constant", nullptr};
    case NodeKind::call_module:
      return classify_module(graph.module_of(node));
    default:
      return classify_operator(node.op);
  }
}

namespace {

// Only tensors and containers of tensors can have a format; host values (sizes, numbers) cannot.
bool carries_tensor(const Graph& graph, const Value& value) {
  bool found = false;
  value.for_each_node([&](NodeId id) {
    const ValueInfo::Kind kind = graph.node(id).info.kind;
    using enum ValueInfo::Kind;
    found =
        found || kind == unknown || kind == tensor || kind == list || kind == tuple || kind == dict;
  });
  return found;
}

void add_tensors(const Module& module, const ArgRow& argument, std::vector<Port>& found) {
  for (const auto& [name, path] : module.tensors)
    if (name == argument.name)
      found.push_back({std::string(argument.port), name, Value(), path, std::nullopt});
}

std::vector<Port> custom_ports_of(const Graph& graph, const Node& node, const CustomOp& op) {
  std::vector<Port> found;
  for (const LeafInput& input : leaf_inputs(graph, node))
    if (!input.port.empty())
      found.push_back({input.port, input.argument, NodeRef{input.node}, "", std::nullopt});
  if (node.kind == NodeKind::call_module)
    for (const auto& [name, path] : graph.module_of(node).tensors)
      if (const auto port = op.tensors.find(name);
          port != op.tensors.end() && !port->second.empty())
        found.push_back({port->second, name, Value(), path, std::nullopt});
  return found;
}

}  // namespace

std::vector<Port> ports(const Graph& graph, const Node& node) {
  if (const CustomOp* own = custom_op(graph, node)) return custom_ports_of(graph, node, *own);
  const Classified what = classify(graph, node);
  std::vector<Port> found;
  if (!what.row) return found;
  const Module* module = node.kind == NodeKind::call_module ? &graph.module_of(node) : nullptr;
  for (const ArgRow& argument : what.row->args) {
    if (argument.port.empty()) continue;
    const std::string port(argument.port), name(argument.name);
    const Value* value = node.find(argument.name);
    const auto inner = argument.inner ? state_shape(what.family(), node.info) : std::nullopt;
    if (inner || (value && carries_tensor(graph, *value)))
      found.push_back({port, name, value ? *value : Value(), "", inner});
    else if (module)
      add_tensors(*module, argument, found);
  }
  return found;
}

std::string_view general_port(std::string_view port) {
  static const auto index = [] {
    std::map<std::string_view, std::string_view> general;
    for (const OpRow& row : op_table())
      for (const ArgRow& argument : row.args)
        if (!argument.general.empty()) general.emplace(argument.port, argument.general);
    return general;
  }();
  const auto found = index.find(port);
  return found == index.end() ? port : found->second;
}

std::optional<Shape> state_shape(OpFamily family, const ValueInfo& result) {
  const bool layer = family == OpFamily::recurrent_layer;
  if (!layer && family != OpFamily::recurrent_cell) return std::nullopt;
  const ValueInfo* state = &result;
  if (layer && state->elements.size() == 2) state = &state->elements[1];
  if (!state->elements.empty()) state = &state->elements[0];
  if (!state->is_tensor() || state->shape.empty()) return std::nullopt;
  Shape shape(state->shape.begin() + (layer ? 1 : 0), state->shape.end());
  if (shape.size() == 1) shape.insert(shape.begin(), 1);
  return shape;
}

namespace {

/// True for ops that return a tuple, which has no port: the readers of its items quantize them.
bool gives_tuple(const OpRow& row) {
  return row.family == OpFamily::recurrent_layer || row.name == "lstm_cell";
}

}  // namespace

std::vector<std::string> port_names(const OpRow& row) {
  std::vector<std::string> names;
  for (const ArgRow& argument : row.args) {
    const bool known = std::ranges::find(names, argument.port) != names.end();
    if (!argument.port.empty() && !known) names.emplace_back(argument.port);
  }
  if (!gives_tuple(row)) names.emplace_back("data_out");
  return names;
}

}  // namespace mase::ir
