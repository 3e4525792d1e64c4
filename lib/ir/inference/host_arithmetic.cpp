// SPDX-License-Identifier: Apache-2.0
// TorchScript's arithmetic on numbers and lists.
#include "ir/inference/host_arithmetic.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>

namespace mase::ir {
namespace {

using MaybeValue = std::optional<Value>;
using HostOperands = std::vector<Value>;

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

/// The row of an operator.
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

}  // namespace

std::optional<Value> host_result(std::string_view op, const std::vector<Value>& operands) {
  const auto row = std::ranges::find(host_rows, op, &HostRow::op);
  if (row == std::end(host_rows) || operands.size() != row->operands) return std::nullopt;
  return row->compute(operands);
}

}  // namespace mase::ir
