// SPDX-License-Identifier: Apache-2.0
// Nodes of the graph as calls of operators, with the modules and functions that they come from.
#include <algorithm>
#include <optional>

#include "base/error.hpp"
#include "base/from_front.hpp"
#include "base/text.hpp"
#include "pt2/export/exporter.hpp"
#include "pt2/export/size_operators.hpp"

namespace mase::pt2 {
namespace {

/// "aten::conv2d" → "torch.ops.aten.conv2d.default"
std::string target_of(std::string_view op) {
  const std::string name(op.substr(op.find("::") + 2));
  return "torch.ops.aten." + name + (name.find('.') == std::string::npos ? ".default" : "");
}

/// items[start:stop:step] for numbers that the graph has as constants.
std::optional<std::vector<Result>> part_of(const std::vector<Result>& items,
                                           const std::vector<ir::Value>& slice) {
  const std::int64_t count = std::ssize(items);
  for (const ir::Value& one : slice)
    if (!one.is_none() && one.kind() != ir::Value::Kind::integer) return std::nullopt;
  const auto bound = [&](const ir::Value& given, std::int64_t otherwise) {
    if (given.is_none()) return otherwise;
    const std::int64_t place = given.as_int();
    return std::clamp<std::int64_t>(place < 0 ? place + count : place, 0, count);
  };
  const std::int64_t step = slice[2].is_none() ? 1 : slice[2].as_int();
  if (step < 1) return std::nullopt;
  std::vector<Result> part;
  for (std::int64_t i = bound(slice[0], 0); i < bound(slice[1], count); i += std::min(step, count))
    part.push_back(items[static_cast<std::size_t>(i)]);
  return part;
}

}  // namespace

void Exporter::add_node(const ir::Node& node) {
  using Kind = ir::NodeKind;
  if (node.kind == Kind::placeholder || node.kind == Kind::output) return;
  if (node.kind == Kind::get_attr) {
    results_[node.id] = Result::of(Result::Kind::tensor, tensor_names_.at(node.target));
  } else if (node.op == "mase::identity") {
    results_[node.id] = result(node.args.at(0).value);
  } else if (node.op == "mase::getitem") {
    results_[node.id] = item_of(node);
  } else if (node.info.is_number() || node.op == "aten::size") {
    add_size(node);
  } else {
    add_operator(node);
  }
}

Result Exporter::item_of(const ir::Node& node) {
  const Result container = result(node.args.at(0).value);
  const ir::Value& index = node.args.at(1).value;
  if (container.kind != Result::Kind::items)
    unsupported_error("a subscript of what is neither a tensor nor a list");
  if (index.kind() == ir::Value::Kind::string) {
    const auto key = std::ranges::find(container.keys, index.as_string());
    if (key != container.keys.end())
      return container.items.at(static_cast<std::size_t>(key - container.keys.begin()));
  }
  if (index.kind() == ir::Value::Kind::integer)
    if (const auto place = from_front(index.as_int(), container.items.size()))
      return container.items[*place];
  if (index.kind() == ir::Value::Kind::slice)
    if (auto part = part_of(container.items, index.items())) {
      Result several;
      several.kind = Result::Kind::items;
      several.items = std::move(*part);
      return several;
    }
  unsupported_error("an item that the list does not have");
}

void Exporter::add_size(const ir::Node& node) {
  const auto symbol = [&](std::string name, const Size& value) {
    size_values_[name] = value.tree();
    return Result::of(Result::Kind::size, std::move(name));
  };
  const auto read_size = [&](std::size_t dim) {
    const ir::NodeId source = node.args.at(0).value.node();
    const Size size = sizes_.size(source, dim);
    if (!size.varies()) return Result::of(ir::Value(size.value));
    const std::string name = unique(node.name);
    add(node, "torch.ops.aten.sym_size.int",
        {input_tree("self", union_tree("as_tensor", name_tree(results_.at(source).name))),
         input_tree("dim", union_tree("as_int", static_cast<std::int64_t>(dim)))},
        {union_tree("as_sym_int", union_tree("as_name", name))});
    return symbol(name, size);
  };
  if (node.op == "aten::size") {
    Result all;
    all.kind = Result::Kind::items;
    const std::size_t rank = sizes_.info(node.args.at(0).value.node()).shape.size();
    for (std::size_t dim = 0; dim < rank; ++dim) all.items.push_back(read_size(dim));
    results_[node.id] = std::move(all);
    return;
  }
  const auto value = sizes_.integer(node.id);
  if (!value) unsupported_error("a number that depends on values of tensors, or is not an integer");
  if (!value->varies()) {
    results_[node.id] = Result::of(ir::Value(value->value));
    return;
  }
  if (node.op == "aten::size.int") {
    const ir::Value* dim = node.find("dim");
    const std::size_t rank = sizes_.info(node.args.at(0).value.node()).shape.size();
    const auto place = from_front(dim ? dim->as_int() : 0, rank);
    MASE_CHECK(place, "a size that its tensor has");
    results_[node.id] = read_size(*place);
    return;
  }
  const std::string target(size_target(node.op));
  MASE_CHECK(!target.empty(), "arithmetic on sizes that vary");
  const std::string name = unique(node.name);
  const ir::SchemaArgument size{{"SymInt", "", false}, "", false, false, {}, 0};
  Tree::List inputs;
  for (const ir::Argument& one : node.args)
    inputs.push_back(input_tree(one.name, argument(one.value, size)));
  add(node, target, std::move(inputs), {union_tree("as_sym_int", union_tree("as_name", name))});
  results_[node.id] = symbol(name, *value);
}

Result Exporter::add_result(const ir::Node& node, const ir::SchemaPart& part,
                            std::vector<std::size_t> place, Tree::List& outputs) {
  const auto named = [&](std::vector<std::size_t> at) {
    std::string wanted = node.name;
    for (const std::size_t i : at) wanted += "_" + std::to_string(i);
    const std::string name = unique(wanted);
    tensor_values_[name] = sizes_.tensor_meta(node.id, at, false);
    return Result::of(Result::Kind::tensor, name);
  };
  if (part.type != "Tensor[]") {
    if (part.type != "Tensor") unsupported_error("its result is of type " + part.type);
    Result one = named(place);
    outputs.push_back(union_tree("as_tensor", name_tree(one.name)));
    return one;
  }
  const ir::ValueInfo* info = &sizes_.info(node.id);
  for (const std::size_t i : place) info = &info->elements.at(i);
  Result all;
  all.kind = Result::Kind::items;
  Tree names = Tree::list();
  for (std::size_t i = 0; i < info->elements.size(); ++i) {
    place.push_back(i);
    all.items.push_back(named(place));
    names.push_back(name_tree(all.items.back().name));
    place.pop_back();
  }
  outputs.push_back(union_tree("as_tensors", std::move(names)));
  return all;
}

void Exporter::add_operator(const ir::Node& node) {
  const ir::OpSchema* schema = ir::find_schema(node.op);
  if (!schema) unsupported_error("ATen has no such operator");
  Tree::List inputs = inputs_of(node, *schema), outputs;
  Result whole;
  if (schema->results.size() == 1) {
    whole = add_result(node, schema->results[0], {}, outputs);
  } else {
    whole.kind = Result::Kind::items;
    for (std::size_t i = 0; i < schema->results.size(); ++i)
      whole.items.push_back(add_result(node, schema->results[i], {i}, outputs));
  }
  add(node, target_of(node.op), std::move(inputs), std::move(outputs));
  results_[node.id] = std::move(whole);
}

void Exporter::add(const ir::Node& node, std::string target, Tree::List inputs,
                   Tree::List outputs) {
  Tree tree = Tree::dict();
  tree["target"] = std::move(target);
  tree["inputs"] = Tree(std::move(inputs));
  tree["outputs"] = Tree(std::move(outputs));
  tree["metadata"] = metadata(node);
  tree["is_hop_single_tensor_return"] = Tree();
  nodes_.push_back(std::move(tree));
}

}  // namespace mase::pt2
