// SPDX-License-Identifier: Apache-2.0
// Names of the program, and the arguments of its nodes as values of the graph.
#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "ir/allowed_operators.hpp"
#include "pt2/dtypes.hpp"
#include "pt2/fields.hpp"
#include "pt2/import/core_operators.hpp"
#include "pt2/import/importer.hpp"

namespace mase::pt2 {
namespace {

/// Kinds of a union that hold names.
constexpr std::string_view name_kinds[] = {
    "as_tensor",   "as_tensors",  "as_optional_tensor", "as_sym_int",       "as_optional_tensors",
    "as_sym_ints", "as_sym_bool", "as_sym_float",       "as_nested_tensors"};

void collect_names(const Tree& value, std::vector<std::string>& names) {
  if (value.is_list())
    for (const Tree& item : value.as_list()) collect_names(item, names);
  if (!value.is_dict()) return;
  for (const auto& [key, item] : value.as_dict()) {
    if ((key == "name" || key == "as_name") && item.is_string()) names.push_back(item.as_string());
    if (item.is_list() || item.is_dict()) collect_names(item, names);
  }
}

/// A number where the signature has one of type float: the program may write it as an integer.
ir::Value as_float(ir::Value value, const ir::SchemaArgument* formal) {
  if (formal && formal->type.starts_with("float") && value.kind() == ir::Value::Kind::integer)
    return value.as_double();
  return value;
}

/// Why the operator of a target is refused, and what helps.
std::string remedy_of(std::string_view target) {
  if (target.starts_with("torch.ops.higher_order."))
    return "branches and loops on values have no counterpart; choose between the results of both "
           "branches with torch.where, and write a loop of a fixed number of steps in Python";
  return "only operators of ATen have a counterpart; write it with these, or export with "
         "program.run_decompositions() if it has a decomposition";
}

ir::Value plain(const Tree& tree, const ir::SchemaArgument* formal) {
  if (tree.is_null()) return {};
  if (tree.is_bool()) return tree.as_bool();
  if (tree.is_int()) return as_float(tree.as_int(), formal);
  if (tree.is_double()) return tree.as_double();
  if (tree.is_string()) return tree.as_string();
  file_error("an argument is not a number, a text or a list of these");
}

double float_of(const Tree& tree) {
  if (tree.is_number()) return tree.as_double();
  if (tree.is_string()) {  // JSON has no infinities
    if (tree.as_string() == "Infinity") return std::numeric_limits<double>::infinity();
    if (tree.as_string() == "-Infinity") return -std::numeric_limits<double>::infinity();
    if (tree.as_string() == "NaN") return std::numeric_limits<double>::quiet_NaN();
  }
  file_error("'as_float' is not a number");
}

}  // namespace

const ir::Value* Call::find(std::string_view name) const {
  const auto found = std::ranges::find(args, name, &ir::Argument::name);
  return found == args.end() ? nullptr : &found->value;
}

std::vector<std::string> names_in(const Tree& value) {
  std::vector<std::string> names;
  const UnionValue one = union_of(value, "an argument");
  if (std::ranges::find(name_kinds, one.kind) != std::end(name_kinds))
    collect_names(one.value, names);
  return names;
}

void Importer::define(const std::string& name, Slot slot) {
  if (!slots_.emplace(name, std::move(slot)).second)
    file_error("the name '" + name + "' is given to two values");
}

const Importer::Slot& Importer::slot(const std::string& name) const {
  const auto found = slots_.find(name);
  if (found == slots_.end())
    file_error("it reads '" + name + "', which no input and no earlier node gives");
  return found->second;
}

const Importer::Slot& Importer::current(const std::string& name) {
  refresh(name);
  const Slot& found = slot(memory_of(name));
  if (changed_tensors_.contains(found.path)) read_again_.insert(found.path);
  return found;
}

ir::Value Importer::named(const Tree& entry) {
  for (const char* key : {"name", "as_name"})
    if (const Tree* name = entry.find(key); name && name->is_string()) {
      const Slot& found = current(name->as_string());
      return found.path.empty() ? found.value : ir::Value("@" + found.path);
    }
  if (entry.is_dict()) {
    const UnionValue one = union_of(entry, "an argument");
    if (one.kind == "as_none") return {};
    if (one.value.is_dict()) return named(one.value);
    if (one.value.is_int()) return one.value.as_int();
    if (one.value.is_double()) return one.value.as_double();
    if (one.value.is_bool()) return one.value.as_bool();
  }
  file_error("an argument is neither a name nor a number");
}

ir::Value Importer::argument(const Tree& value, const ir::SchemaArgument* formal) {
  const UnionValue one = union_of(value, "an argument");
  if (one.kind == "as_none") return {};
  if (one.kind == "as_scalar_type") {
    const std::int64_t number = integer_of(one.value, "as_scalar_type");
    return number == 0 ? ir::Value() : ir::Value(scalar_type(number).in_torch);
  }
  // The graph is for any device and has no layouts: what is left out is the default.
  if (one.kind == "as_device" || one.kind == "as_layout") return {};
  if (one.kind == "as_memory_format") {
    // The schema counts from 1 and has preserve_format last; c10::MemoryFormat has it second.
    constexpr std::int64_t in_torch[] = {0, 2, 3, 1};
    const std::int64_t number = integer_of(one.value, "as_memory_format");
    if (number < 1 || number > 4) file_error("'as_memory_format' is not one of PyTorch's");
    return in_torch[number - 1];
  }
  if (one.kind == "as_float") return float_of(one.value);
  if (one.kind == "as_graph" || one.kind == "as_custom_obj" || one.kind == "as_operator")
    unsupported_error("its argument is a " + std::string(one.kind.substr(3)) +
                      ", which has no counterpart");
  const bool names = std::ranges::find(name_kinds, one.kind) != std::end(name_kinds);
  if (!one.value.is_list()) return names ? named(one.value) : plain(one.value, formal);
  ir::Value::List items;
  for (const Tree& item : one.value.as_list())
    items.push_back(names ? named(item) : plain(item, formal));
  return ir::Value::list(std::move(items));
}

ir::NodeId Importer::attribute(const std::string& path) {
  const auto found = attributes_.find(path);
  if (found != attributes_.end()) return found->second;
  ir::Node node;
  node.kind = ir::NodeKind::get_attr;
  node.target = path;
  const Array& value = graph_.tensors.at(path).value;
  node.info = ir::ValueInfo::tensor(value.dtype(), value.shape());
  const ir::NodeId id = graph_.add(std::move(node));
  attributes_.emplace(path, id);
  return id;
}

void Importer::read_tensors(ir::Value& value) {
  using Kind = ir::Value::Kind;
  if (value.kind() == Kind::string && value.as_string().starts_with('@'))
    value = ir::NodeRef{attribute(value.as_string().substr(1))};
  else if (value.kind() == Kind::list || value.kind() == Kind::tuple || value.kind() == Kind::slice)
    for (ir::Value& item : value.items()) read_tensors(item);
}

bool Importer::uses_only_first(const Node& node) const {
  for (std::size_t i = 1; i < node.outputs.size(); ++i)
    for (const std::string& name : names_in(node.outputs[i]))
      if (uses_.contains(name)) return false;
  return true;
}

void Importer::use_operator_on_floats(Call& call) const {
  const bool floats = std::ranges::any_of(call.args, [&](const ir::Argument& argument) {
    return argument.value.kind() == ir::Value::Kind::number ||
           (argument.value.is_node() &&
            graph_.node(argument.value.node()).info.kind == ir::ValueInfo::Kind::number);
  });
  if (floats) {
    call.op = operator_on_floats(call.node->target);
    for (ir::Argument& argument : call.args)
      if (argument.value.kind() == ir::Value::Kind::integer)
        argument.value = argument.value.as_double();
  }
  if (call.op.empty()) refuse(*call.node, "this arithmetic of sizes has no counterpart");
}

Call Importer::call_of(const Node& node, std::size_t first) {
  Call call{operator_of(node.target), nullptr, {}, &node};
  const bool of_host = is_size_operator(node.target);
  if (call.op.empty() && !of_host) refuse(node, remedy_of(node.target));
  call.schema = of_host ? nullptr : ir::find_schema(call.op);
  const bool core = is_core_operator(call.op);
  if (!call.schema && !of_host && !core) refuse(node, ir::not_allowed(call.op));
  for (std::size_t i = first; i < node.inputs.size(); ++i) {
    const NodeArgument& input = node.inputs[i];
    const ir::SchemaArgument* formal = call.schema ? call.schema->find(input.name) : nullptr;
    if (call.schema && !formal) refuse(node, "the operator has no argument '" + input.name + "'");
    call.args.push_back({input.name, argument(input.value, formal)});
  }
  if (of_host) use_operator_on_floats(call);
  if (core && uses_only_first(node)) use_called_operator(call);
  if (!call.schema && !of_host) refuse(node, ir::not_allowed(call.op));
  return call;
}

}  // namespace mase::pt2
