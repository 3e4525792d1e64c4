// SPDX-License-Identifier: Apache-2.0
// TorchScript's arithmetic on numbers and lists.
#include "ir/inference/host_values.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>

#include "base/from_front.hpp"
#include "ir/dimension_map.hpp"
#include "ir/op_table.hpp"

namespace mase::ir {
namespace {

using MaybeValue = std::optional<Value>;
using HostOperands = std::vector<Value>;

constexpr int deepest_expression = 64;

bool is_whole(const Value& value) {
  return value.kind() == Value::Kind::integer || value.kind() == Value::Kind::boolean;
}
bool is_host_number(const Value& value) { return value.is_number() || is_whole(value); }

std::int64_t whole(const Value& value) {
  return value.kind() == Value::Kind::boolean ? std::int64_t{value.as_bool()} : value.as_int();
}
double as_number(const Value& value) {
  return is_whole(value) ? static_cast<double>(whole(value)) : value.as_double();
}

std::uint64_t bits(std::int64_t value) { return static_cast<std::uint64_t>(value); }

/// Unsigned arithmetic wraps as TorchScript's integers do.
std::int64_t sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(bits(a) + bits(b));
}
std::int64_t difference(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(bits(a) - bits(b));
}
std::int64_t product(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(bits(a) * bits(b));
}
std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  if (b == -1) return difference(0, a);
  const std::int64_t quotient = a / b;
  return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

MaybeValue added(const HostOperands& in) {
  if (in[0].kind() == Value::Kind::list && in[1].kind() == Value::Kind::list) {
    Value::List joined = in[0].items();
    joined.insert(joined.end(), in[1].items().begin(), in[1].items().end());
    return Value::list(std::move(joined));
  }
  if (!is_host_number(in[0]) || !is_host_number(in[1])) return std::nullopt;
  if (is_whole(in[0]) && is_whole(in[1])) return Value(sum(whole(in[0]), whole(in[1])));
  return Value(as_number(in[0]) + as_number(in[1]));
}

/// Computes with integers if both are, otherwise with floats; no result without two numbers.
template <class OfIntegers, class OfFloats>
MaybeValue on_numbers(const HostOperands& in, OfIntegers of_integers, OfFloats of_floats) {
  if (!is_host_number(in[0]) || !is_host_number(in[1])) return std::nullopt;
  if (is_whole(in[0]) && is_whole(in[1])) return of_integers(whole(in[0]), whole(in[1]));
  return Value(of_floats(as_number(in[0]), as_number(in[1])));
}

MaybeValue subtracted(const HostOperands& in) {
  return on_numbers(
      in, [](auto a, auto b) { return MaybeValue(difference(a, b)); },
      [](double a, double b) { return a - b; });
}
MaybeValue subtracted_from(const HostOperands& in) { return subtracted({in[1], in[0]}); }
MaybeValue multiplied(const HostOperands& in) {
  return on_numbers(
      in, [](auto a, auto b) { return MaybeValue(product(a, b)); },
      [](double a, double b) { return a * b; });
}
MaybeValue divided(const HostOperands& in) {
  if (!is_host_number(in[0]) || !is_host_number(in[1]) || as_number(in[1]) == 0)
    return std::nullopt;
  return Value(as_number(in[0]) / as_number(in[1]));
}
MaybeValue floor_divided(const HostOperands& in) {
  if (!is_host_number(in[1]) || as_number(in[1]) == 0) return std::nullopt;
  return on_numbers(
      in, [](auto a, auto b) { return MaybeValue(floor_quotient(a, b)); },
      [](double a, double b) { return std::floor(a / b); });
}
MaybeValue negated(const HostOperands& in) {
  if (is_whole(in[0])) return Value(difference(0, whole(in[0])));
  return is_host_number(in[0]) ? MaybeValue(-as_number(in[0])) : std::nullopt;
}
MaybeValue divided_towards_zero(const HostOperands& in) {
  if (!is_whole(in[0]) || !is_whole(in[1]) || whole(in[1]) == 0) return std::nullopt;
  if (whole(in[1]) == -1) return negated({whole(in[0])});
  return Value(whole(in[0]) / whole(in[1]));
}
MaybeValue remainder_of(const HostOperands& in) {
  if (!is_host_number(in[1]) || as_number(in[1]) == 0) return std::nullopt;
  return on_numbers(
      in,
      [](auto a, auto b) { return MaybeValue(difference(a, product(floor_quotient(a, b), b))); },
      [](double a, double b) { return std::fmod(b + std::fmod(a, b), b); });
}
MaybeValue quotient_and_rest(const HostOperands& in) {
  const MaybeValue quotient = floor_divided(in), rest = remainder_of(in);
  if (!quotient || !rest) return std::nullopt;
  return Value::tuple({*quotient, *rest});
}
MaybeValue smaller(const HostOperands& in) {
  return on_numbers(
      in, [](auto a, auto b) { return MaybeValue(std::min(a, b)); },
      [](double a, double b) { return std::min(a, b); });
}
MaybeValue greater(const HostOperands& in) {
  return on_numbers(
      in, [](auto a, auto b) { return MaybeValue(std::max(a, b)); },
      [](double a, double b) { return std::max(a, b); });
}
MaybeValue greatest_divisor(const HostOperands& in) {
  if (!is_whole(in[0]) || !is_whole(in[1])) return std::nullopt;
  const std::int64_t a = whole(in[0]), b = whole(in[1]);
  if (std::min(a, b) == std::numeric_limits<std::int64_t>::min()) return std::nullopt;
  return Value(std::gcd(a, b));
}

template <class Compare>
MaybeValue compared(const HostOperands& in, Compare compare) {
  if (!is_host_number(in[0]) || !is_host_number(in[1])) return std::nullopt;
  return Value(compare(as_number(in[0]), as_number(in[1])));
}
MaybeValue equal(const HostOperands& in) { return compared(in, std::equal_to<double>()); }
MaybeValue unequal(const HostOperands& in) { return compared(in, std::not_equal_to<double>()); }
MaybeValue below(const HostOperands& in) { return compared(in, std::less<double>()); }
MaybeValue at_most(const HostOperands& in) { return compared(in, std::less_equal<double>()); }
MaybeValue above(const HostOperands& in) { return compared(in, std::greater<double>()); }
MaybeValue at_least(const HostOperands& in) { return compared(in, std::greater_equal<double>()); }

MaybeValue inverted(const HostOperands& in) {
  if (in[0].kind() != Value::Kind::boolean) return std::nullopt;
  return Value(!in[0].as_bool());
}

/// An integer from a float that fits; nothing for others.
MaybeValue integer_from(double value) {
  constexpr double most = 9e18;
  if (!(std::abs(value) < most)) return std::nullopt;
  return Value(static_cast<std::int64_t>(value));
}
template <class Round>
MaybeValue rounded_by(const HostOperands& in, Round round) {
  if (is_whole(in[0])) return Value(whole(in[0]));
  return is_host_number(in[0]) ? integer_from(round(as_number(in[0]))) : std::nullopt;
}
MaybeValue cut(const HostOperands& in) {
  return rounded_by(in, [](double a) { return std::trunc(a); });
}
MaybeValue rounded_down(const HostOperands& in) {
  return rounded_by(in, [](double a) { return std::floor(a); });
}
MaybeValue rounded_up(const HostOperands& in) {
  return rounded_by(in, [](double a) { return std::ceil(a); });
}
MaybeValue as_float(const HostOperands& in) {
  return is_host_number(in[0]) ? MaybeValue(as_number(in[0])) : std::nullopt;
}
MaybeValue as_truth(const HostOperands& in) {
  return is_host_number(in[0]) ? MaybeValue(as_number(in[0]) != 0) : std::nullopt;
}
MaybeValue square_root(const HostOperands& in) {
  return is_host_number(in[0]) ? MaybeValue(std::sqrt(as_number(in[0]))) : std::nullopt;
}
MaybeValue unchanged(const HostOperands& in) { return in[0]; }

struct HostRow {
  std::string_view op;
  std::size_t operands;
  MaybeValue (*compute)(const HostOperands&);
};

constexpr HostRow host_rows[] = {
    {"aten::add", 2, added},
    {"aten::sub", 2, subtracted},
    {"aten::rsub", 2, subtracted_from},
    {"aten::mul", 2, multiplied},
    {"aten::div", 2, divided},
    {"aten::floordiv", 2, floor_divided},
    {"aten::floor_divide", 2, floor_divided},
    {"mase::truncdiv", 2, divided_towards_zero},
    {"aten::remainder", 2, remainder_of},
    {"aten::divmod", 2, quotient_and_rest},
    {"aten::gcd", 2, greatest_divisor},
    {"prim::min", 2, smaller},
    {"prim::max", 2, greater},
    {"aten::eq", 2, equal},
    {"aten::ne", 2, unequal},
    {"aten::lt", 2, below},
    {"aten::le", 2, at_most},
    {"aten::gt", 2, above},
    {"aten::ge", 2, at_least},
    {"aten::neg", 1, negated},
    {"aten::__not__", 1, inverted},
    {"aten::Int", 1, cut},
    {"aten::floor", 1, rounded_down},
    {"aten::ceil", 1, rounded_up},
    {"aten::Float", 1, as_float},
    {"aten::Bool", 1, as_truth},
    {"aten::sqrt", 1, square_root},
    {"mase::identity", 1, unchanged},
};

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
  const auto row = std::ranges::find(host_rows, host_name(node), &HostRow::op);
  if (row == std::end(host_rows)) return std::nullopt;
  HostOperands operands;
  for (const Argument& argument : node.args) {
    if (argument.name == "rounding_mode") continue;
    if (argument.name == "alpha" && argument.value == Value(1)) continue;
    MaybeValue known = of(argument.value);
    if (!known) return std::nullopt;
    operands.push_back(std::move(*known));
  }
  if (operands.size() != row->operands) return std::nullopt;
  return row->compute(operands);
}

}  // namespace mase::ir
