// SPDX-License-Identifier: Apache-2.0
// Follows references from node to node, down to integers that are known.
#include "ir/inference/host_values.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/from_front.hpp"
#include "ir/dimension_map.hpp"
#include "ir/inference/host_arithmetic.hpp"
#include "ir/op_table.hpp"

namespace mase::ir {
namespace {

using MaybeValue = std::optional<Value>;

constexpr int deepest_expression = 64;

/// The row of a node: its operator, and the division that its rounding asks for.
std::string_view host_name(const Node& node) {
  const std::string_view op = base_op(node.op);
  const Value* rounding = node.find("rounding_mode");
  if (!rounding || rounding->is_none()) return op;
  if (*rounding == Value("floor")) return "aten::floordiv";
  return *rounding == Value("trunc") ? "mase::truncdiv" : "";
}

/// A tensor of one integer without dimensions: traced programs compute sizes with these.
bool is_one_integer(const ValueInfo& info) {
  return info.is_tensor() && info.shape.empty() && info.dtype == DType::int64;
}

MaybeValue integer_in(const Graph& graph, const std::string& path) {
  const auto found = graph.tensors.find(path);
  if (found == graph.tensors.end()) return std::nullopt;
  const Array& value = found->second.value;
  if (value.dtype() != DType::int64 || !value.shape().empty()) return std::nullopt;
  return Value(value.span<std::int64_t>()[0]);
}

/// Where a slice begins and ends: `fallback` if it does not say, counted from the front.
std::int64_t slice_bound(const Value& given, std::int64_t fallback, std::int64_t size) {
  if (given.kind() != Value::Kind::integer) return fallback;
  const std::int64_t place = given.as_int() < 0 ? given.as_int() + size : given.as_int();
  return std::clamp<std::int64_t>(place, 0, size);
}

MaybeValue slice_of(const Value::List& items, const Value& slice) {
  const auto size = static_cast<std::int64_t>(items.size());
  const Value& step = slice.items()[2];
  const std::int64_t by = step.kind() == Value::Kind::integer ? step.as_int() : 1;
  if (by < 1) return std::nullopt;
  const std::int64_t last = slice_bound(slice.items()[1], size, size);
  Value::List part;
  for (std::int64_t i = slice_bound(slice.items()[0], 0, size); i < last; i += std::min(by, size))
    part.push_back(items[static_cast<std::size_t>(i)]);
  return Value::list(std::move(part));
}

}  // namespace

std::optional<Value> HostValues::of(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::node:
      return of_node(value.node());
    case Value::Kind::training:
      return Value(false);
    case Value::Kind::list:
    case Value::Kind::tuple:
    case Value::Kind::slice: {
      Value copy = value;
      for (Value& item : copy.items()) {
        MaybeValue known = of(item);
        if (!known) return std::nullopt;
        item = std::move(*known);
      }
      return copy;
    }
    default:
      return value;
  }
}

std::optional<Value> HostValues::of_node(NodeId id) {
  const ValueInfo& info = known_.info(id);
  if (info.kind == ValueInfo::Kind::integer) {
    const auto known = known_.integer(id);
    return known ? MaybeValue(*known) : std::nullopt;
  }
  if (info.kind == ValueInfo::Kind::none) return Value();
  if ((info.is_tensor() && !is_one_integer(info)) || depth_ == deepest_expression)
    return std::nullopt;
  if (const auto before = found_.find(id); before != found_.end()) return before->second;
  ++depth_;
  const MaybeValue value = result(graph_.node(id));
  --depth_;
  found_.emplace(id, value);
  return value;
}

std::optional<Value> HostValues::size(const Node& node, const ValueInfo& tensor) {
  const Value* given = node.find("dim");
  if (!given) {
    Value::List sizes;
    for (const std::int64_t size : tensor.shape) sizes.emplace_back(size);
    return Value::list(std::move(sizes));
  }
  const MaybeValue dim = of(*given);
  if (!dim || dim->kind() != Value::Kind::integer) return std::nullopt;
  const auto place = from_front(dim->as_int(), tensor.shape.size());
  return place ? MaybeValue(tensor.shape[*place]) : std::nullopt;
}

std::optional<Value> HostValues::item(const Node& node) {
  if (node.args.size() != 2) return std::nullopt;
  const MaybeValue index = of(node.args[1].value);
  const Value& source = node.args[0].value;
  if (!index || !(source.is_node() || items_of(&source))) return std::nullopt;
  const MaybeValue container = of(source);
  const Value::List* items = container ? items_of(&*container) : nullptr;
  if (!items) return std::nullopt;
  if (index->kind() == Value::Kind::slice) return slice_of(*items, *index);
  if (index->kind() != Value::Kind::integer) return std::nullopt;
  const auto place = from_front(index->as_int(), items->size());
  return place ? MaybeValue((*items)[*place]) : std::nullopt;
}

std::optional<Value> HostValues::result(const Node& node) {
  const std::string_view op = base_op(node.op);
  if (node.kind == NodeKind::get_attr) return integer_in(graph_, node.target);
  if (op == "mase::getitem") return item(node);
  if (node.args.empty()) return std::nullopt;
  const Value& first = node.args[0].value;
  if (first.is_node() && known_.info(first.node()).is_tensor()) {
    const ValueInfo& tensor = known_.info(first.node());
    if (op == "aten::size") return size(node, tensor);
    if (op == "aten::dim") return Value(static_cast<std::int64_t>(tensor.shape.size()));
    if (op == "aten::numel") return Value(numel(tensor.shape));
    if (op == "aten::len" && !tensor.shape.empty()) return Value(tensor.shape[0]);
  }
  if (op == "aten::scalar_tensor") return of(first);
  if (op == "aten::len" && first.is_node())
    return Value(static_cast<std::int64_t>(known_.info(first.node()).elements.size()));
  std::vector<Value> operands;
  for (const Argument& argument : node.args) {
    if (argument.name == "rounding_mode") continue;
    if (argument.name == "alpha" && argument.value == Value(1)) continue;
    MaybeValue known = of(argument.value);
    if (!known) return std::nullopt;
    operands.push_back(std::move(*known));
  }
  return host_result(host_name(node), operands);
}

}  // namespace mase::ir
