// SPDX-License-Identifier: Apache-2.0
// Arguments of the graph's nodes as unions of the schema.
#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "pt2/dtypes.hpp"
#include "pt2/export/exporter.hpp"

namespace mase::pt2 {
namespace {

using Kind = ir::Value::Kind;

/// JSON has no infinities.
Tree float_tree(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  return value;
}

/// "int[]?" → "int"
std::string element_type(std::string type) {
  type = type.substr(0, type.find("[]"));
  if (type.ends_with('?')) type.pop_back();
  return type;
}

/// The schema counts from 1 and has preserve_format last; c10::MemoryFormat has it second.
constexpr std::int64_t memory_formats[] = {1, 4, 2, 3};

Tree constant_tree(const ir::Value& value, const std::string& type) {
  if (value.is_none()) return union_tree("as_none", true);
  if (type == "ScalarType")
    return union_tree("as_scalar_type", row_of_torch(value.as_int()).number);
  if (type == "MemoryFormat")
    return union_tree("as_memory_format", memory_formats[value.as_int() & 3]);
  if (type == "float") return union_tree("as_float", float_tree(value.as_double()));
  switch (value.kind()) {
    case Kind::training:
      return union_tree("as_bool", false);
    case Kind::boolean:
      return union_tree("as_bool", value.as_bool());
    case Kind::integer:
      if (type == "bool") return union_tree("as_bool", value.as_int() != 0);
      return union_tree("as_int", value.as_int());
    case Kind::number:
      return union_tree("as_float", float_tree(value.as_double()));
    case Kind::string:
      return union_tree("as_string", value.as_string());
    default:
      unsupported_error("an argument of type " + type + " that is a container");
  }
}

bool is_size_type(const std::string& type) { return type == "SymInt" || type == "int"; }

}  // namespace

Tree input_tree(std::string_view name, Tree value, ArgumentKind kind) {
  return Tree(Tree::Dict{
      {"name", name}, {"arg", std::move(value)}, {"kind", static_cast<std::int64_t>(kind)}});
}

Result Exporter::result(const ir::Value& value) const {
  if (value.is_node()) {
    const auto found = results_.find(value.node());
    MASE_CHECK(found != results_.end(), "a value is read before it is written");
    return found->second;
  }
  Result all;
  if (value.kind() == Kind::list || value.kind() == Kind::tuple) {
    all.kind = Result::Kind::items;
    for (const ir::Value& item : value.items()) all.items.push_back(result(item));
    return all;
  }
  if (value.kind() == Kind::dict) {
    all.kind = Result::Kind::items;
    for (const auto& [key, item] : value.entries()) {
      all.keys.push_back(key);
      all.items.push_back(result(item));
    }
    return all;
  }
  return Result::of(value);
}

Tree Exporter::argument(const ir::Value& value, const ir::SchemaArgument& formal) {
  const std::string type = element_type(formal.type);
  const Result given = result(value);
  const bool single = given.kind != Result::Kind::items;
  if (formal.is_list() && !(given.kind == Result::Kind::constant && given.constant.is_none()))
    return list_argument(value, formal);
  if (!single) unsupported_error("'" + formal.name + "' is one value, and the graph has several");
  if (given.kind == Result::Kind::tensor) return union_tree("as_tensor", name_tree(given.name));
  if (given.kind == Result::Kind::size)
    return union_tree("as_sym_int", union_tree("as_name", given.name));
  return constant_tree(given.constant, type);
}

Tree Exporter::list_argument(const ir::Value& value, const ir::SchemaArgument& formal) {
  const std::string type = element_type(formal.type);
  Result all = result(value);
  if (all.kind != Result::Kind::items)
    all.items.assign(static_cast<std::size_t>(std::max(formal.list_size, 1)), Result(all));
  const auto is = [&](Result::Kind kind) {
    return std::ranges::any_of(all.items, [&](const Result& item) { return item.kind == kind; });
  };
  Tree items = Tree::list();
  if (type == "Tensor") {
    const bool optional = formal.type.find("?[]") != std::string::npos;
    for (const Result& item : all.items) {
      const bool none = item.kind != Result::Kind::tensor;
      if (none && !optional) unsupported_error("'" + formal.name + "' takes tensors alone");
      items.push_back(none       ? union_tree("as_none", true)
                      : optional ? union_tree("as_tensor", name_tree(item.name))
                                 : name_tree(item.name));
    }
    return union_tree(optional ? "as_optional_tensors" : "as_tensors", std::move(items));
  }
  if (is(Result::Kind::size) && is_size_type(type)) {
    for (const Result& item : all.items)
      items.push_back(item.kind == Result::Kind::size
                          ? union_tree("as_name", item.name)
                          : union_tree("as_int", item.constant.as_int()));
    return union_tree("as_sym_ints", std::move(items));
  }
  std::string kind = type == "bool" ? "as_bools" : type == "float" ? "as_floats" : "as_ints";
  for (const Result& item : all.items) {
    if (item.kind != Result::Kind::constant)
      unsupported_error("'" + formal.name + "' takes constants alone");
    const Tree one = constant_tree(item.constant, type);
    kind = one.as_dict().at(0).first + "s";
    items.push_back(one.as_dict().at(0).second);
  }
  return union_tree(kind, std::move(items));
}

Tree::List Exporter::inputs_of(const ir::Node& node, const ir::OpSchema& schema) {
  Tree::List inputs;
  bool positional = true;
  const ir::Module* module =
      node.kind == ir::NodeKind::call_module ? &graph_.module_of(node) : nullptr;
  for (const ir::SchemaArgument& formal : schema.arguments) {
    const ir::Value* value = graph_.argument(node, formal.name);
    const std::string* tensor = module ? module->tensor(formal.name) : nullptr;
    Tree tree;
    if (tensor && !value)
      tree = union_tree("as_tensor", name_tree(tensor_names_.at(*tensor)));
    else if (value && !(formal.has_default && *value == formal.fallback))
      tree = argument(*value, formal);
    else if (formal.has_default || formal.type.ends_with('?'))
      tree = Tree();
    else
      unsupported_error("its argument '" + formal.name + "' is missing");
    if (tree.is_null() && !(formal.type.ends_with('?') && !formal.has_default)) {
      positional = false;
      continue;
    }
    if (tree.is_null()) tree = union_tree("as_none", true);
    positional = positional && !formal.keyword_only;
    inputs.push_back(input_tree(formal.name, std::move(tree),
                                positional ? ArgumentKind::positional : ArgumentKind::keyword));
  }
  return inputs;
}

}  // namespace mase::pt2
