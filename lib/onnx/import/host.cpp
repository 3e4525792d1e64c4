// SPDX-License-Identifier: Apache-2.0
// Constants are computed here; what depends on sizes becomes an operator on host integers.
#include "onnx/import/host.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>

#include "base/error.hpp"
#include "ir/text.hpp"
#include "onnx/import/importer.hpp"

namespace mase::onnx {
namespace {

bool is_real(DType dtype) { return dtype == DType::float32 || dtype == DType::float64; }

/// Rounds a result to the dtype in which ONNX computes it.
double rounded(double value, DType dtype) {
  return dtype == DType::float32 ? static_cast<double>(static_cast<float>(value)) : value;
}

/// What a binary operator does to integers, to reals and, in the graph, to host integers.
struct BinaryRow {
  std::string_view op;
  std::int64_t (*integers)(std::int64_t, std::int64_t);
  double (*reals)(double, double);
  std::string_view node = {};  ///< the operator on host integers; "" if there is none
  bool truth = false;          ///< whether the result is a truth value
  bool chooses = false;        ///< whether the result is one of both operands
};

/// Wraps around, as machine integers do.
std::int64_t wrapped(std::uint64_t value) { return static_cast<std::int64_t>(value); }
std::uint64_t bits_of(std::int64_t value) { return static_cast<std::uint64_t>(value); }

std::int64_t quotient(std::int64_t a, std::int64_t b) {
  if (b == 0) file_error("it divides by zero");
  return b == -1 ? wrapped(0 - bits_of(a)) : a / b;
}

std::int64_t remainder(std::int64_t a, std::int64_t b) {
  if (b == 0) file_error("it divides by zero");
  const std::int64_t rest = b == -1 ? 0 : a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

std::int64_t power(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(std::pow(static_cast<double>(a), static_cast<double>(b)));
}

// clang-format off
constexpr BinaryRow binary_rows[] = {
    {"Add", [](auto a, auto b) { return wrapped(bits_of(a) + bits_of(b)); },
     [](double a, double b) { return a + b; }, "aten::add.int"},
    {"Sub", [](auto a, auto b) { return wrapped(bits_of(a) - bits_of(b)); },
     [](double a, double b) { return a - b; }, "aten::sub.int"},
    {"Mul", [](auto a, auto b) { return wrapped(bits_of(a) * bits_of(b)); },
     [](double a, double b) { return a * b; }, "aten::mul.int"},
    // Sizes are not negative, so rounding down is rounding to zero.
    {"Div", quotient, [](double a, double b) { return a / b; }, "aten::floordiv.int"},
    {"Mod", remainder, [](double a, double b) { return std::fmod(a, b); }, "aten::remainder.int"},
    {"Pow", power, [](double a, double b) { return std::pow(a, b); }},
    {"Min", [](auto a, auto b) { return std::min(a, b); },
     [](double a, double b) { return std::min(a, b); }, "", false, true},
    {"Max", [](auto a, auto b) { return std::max(a, b); },
     [](double a, double b) { return std::max(a, b); }, "", false, true},
    {"Equal", [](auto a, auto b) { return std::int64_t{a == b}; },
     [](double a, double b) { return double(a == b); }, "", true},
    {"Less", [](auto a, auto b) { return std::int64_t{a < b}; },
     [](double a, double b) { return double(a < b); }, "", true},
    {"LessOrEqual", [](auto a, auto b) { return std::int64_t{a <= b}; },
     [](double a, double b) { return double(a <= b); }, "", true},
    {"Greater", [](auto a, auto b) { return std::int64_t{a > b}; },
     [](double a, double b) { return double(a > b); }, "", true},
    {"GreaterOrEqual", [](auto a, auto b) { return std::int64_t{a >= b}; },
     [](double a, double b) { return double(a >= b); }, "", true},
    {"And", [](auto a, auto b) { return a & b; }, nullptr, "", true},
    {"Or", [](auto a, auto b) { return a | b; }, nullptr, "", true},
    {"Xor", [](auto a, auto b) { return a ^ b; }, nullptr, "", true},
};

struct UnaryRow {
  std::string_view op;
  double (*reals)(double);
  std::int64_t (*integers)(std::int64_t) = nullptr;
};

constexpr UnaryRow unary_rows[] = {
    {"Neg", [](double a) { return -a; }, [](std::int64_t a) { return wrapped(0 - bits_of(a)); }},
    {"Abs", [](double a) { return std::fabs(a); },
     [](std::int64_t a) { return a < 0 ? wrapped(0 - bits_of(a)) : a; }},
    {"Floor", [](double a) { return std::floor(a); }},
    {"Ceil", [](double a) { return std::ceil(a); }},
    {"Round", [](double a) { return std::nearbyint(a); }},
    {"Sqrt", [](double a) { return std::sqrt(a); }},
    {"Exp", [](double a) { return std::exp(a); }},
    {"Log", [](double a) { return std::log(a); }},
    {"Not", nullptr, [](std::int64_t a) { return std::int64_t{a == 0}; }},
};
// clang-format on

std::int64_t whole(const ir::Value& item) {
  return item.kind() == ir::Value::Kind::boolean ? std::int64_t{item.as_bool()} : item.as_int();
}

/// An integer as an item of a dtype.
ir::Value item_of(std::int64_t value, DType dtype) {
  return dtype == DType::boolean ? ir::Value(value != 0) : ir::Value(value);
}

std::optional<ir::Value> on_nodes(Call& call, const BinaryRow& row, const ir::Value& a,
                                  const ir::Value& b) {
  if (row.node.empty()) return std::nullopt;
  const ir::NodeId id = call.emit(row.node, {{"a", a}, {"b", b}});
  const auto fixed = call.importer().worlds().fixed_integer(id);
  return fixed ? ir::Value(*fixed) : ref(id);
}

/// The values of an item for the example's sizes and for others.
std::optional<std::array<std::int64_t, 2>> in_worlds(Call& call, const ir::Value& item) {
  return item.is_node() ? call.importer().worlds().integers(item.node())
                        : std::optional(std::array{whole(item), whole(item)});
}

/// A comparison of sizes. Where the answer depends on them, the graph relies on that for the
/// example.
std::optional<ir::Value> compared(Call& call, const BinaryRow& row, const ir::Value& a,
                                  const ir::Value& b) {
  const auto left = in_worlds(call, a), right = in_worlds(call, b);
  if (!left || !right) return std::nullopt;
  const bool example = row.integers((*left)[0], (*right)[0]) != 0;
  if (example != (row.integers((*left)[1], (*right)[1]) != 0))
    call.rely_on(std::string(row.op) + "(" + ir::print(call.importer().graph(), a) + ", " +
                 ir::print(call.importer().graph(), b) + ") is " + (example ? "true" : "false"));
  return ir::Value(example);
}

/// The smaller or larger one of two sizes, where it is the same one for all sizes that are tried.
std::optional<ir::Value> chosen(Call& call, const BinaryRow& row, const ir::Value& a,
                                const ir::Value& b) {
  const auto left = in_worlds(call, a), right = in_worlds(call, b);
  if (!left || !right) return std::nullopt;
  const std::array results{row.integers((*left)[0], (*right)[0]),
                           row.integers((*left)[1], (*right)[1])};
  if (results == *left) return a;
  return results == *right ? std::optional(b) : std::nullopt;
}

std::optional<ir::Value> computed(Call& call, const BinaryRow& row, DType dtype, const ir::Value& a,
                                  const ir::Value& b) {
  if (a.is_node() || b.is_node()) {
    if (row.truth) return compared(call, row, a, b);
    return row.chooses ? chosen(call, row, a, b) : on_nodes(call, row, a, b);
  }
  const DType result = row.truth ? DType::boolean : dtype;
  if (!is_real(dtype)) return item_of(row.integers(whole(a), whole(b)), result);
  if (!row.reals) return std::nullopt;
  const double value = rounded(row.reals(a.as_double(), b.as_double()), dtype);
  return row.truth ? ir::Value(value != 0) : ir::Value(value);
}

}  // namespace

std::optional<Shape> broadcast_shape(const Shape& a, const Shape& b) {
  Shape result(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::int64_t one = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t other = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (one != other && one != 1 && other != 1) return std::nullopt;
    result[result.size() - 1 - i] = one == 1 ? other : one;
  }
  return result;
}

std::vector<std::int64_t> broadcast_places(const Shape& from, const Shape& to) {
  std::vector<std::int64_t> places;
  const std::int64_t count = numel(to);
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = i, place = 0, step = 1;
    for (std::size_t d = 0; d < to.size(); ++d) {
      const std::size_t dim = to.size() - 1 - d;
      const std::int64_t index = rest % to[dim];
      rest /= to[dim];
      if (d >= from.size()) continue;
      const std::int64_t size = from[from.size() - 1 - d];
      place += size == 1 ? 0 : index * step;
      step *= size;
    }
    places.push_back(place);
  }
  return places;
}

HostTensor picked(const HostTensor& tensor, Shape shape, const std::vector<std::int64_t>& places) {
  HostTensor result{tensor.dtype, std::move(shape), {}};
  for (const std::int64_t place : places)
    result.items.push_back(tensor.items.at(static_cast<std::size_t>(place)));
  return result;
}

std::optional<ir::Value> cast_item(const ir::Value& item, DType from, DType to) {
  const bool integer = to == DType::int64 || to == DType::int32;
  if (item.is_node()) return integer ? std::optional(item) : std::nullopt;
  if (is_real(to)) {
    const double value = is_real(from) ? item.as_double() : static_cast<double>(whole(item));
    return ir::Value(rounded(value, to));
  }
  if (!integer && to != DType::boolean) return std::nullopt;
  if (!is_real(from)) return item_of(whole(item), to);
  const double value = item.as_double();
  if (to == DType::boolean) return ir::Value(value != 0);
  constexpr double most = 9.2e18;
  if (!(std::fabs(value) < most)) return std::nullopt;
  return ir::Value(static_cast<std::int64_t>(value));
}

HostFunction host_binary(std::string_view op) {
  const auto* row = std::ranges::find(binary_rows, op, &BinaryRow::op);
  MASE_CHECK(row != std::end(binary_rows), "no such operator on host tensors");
  return [row](Call& call) -> std::optional<HostTensor> {
    HostTensor result = call.host(0);
    for (std::size_t i = 1; i < call.count(); ++i) {
      const HostTensor other = call.host(i);
      auto shape = broadcast_shape(result.shape, other.shape);
      if (!shape || numel(*shape) > most_host_items) return std::nullopt;
      const auto left = picked(result, *shape, broadcast_places(result.shape, *shape));
      const auto right = picked(other, *shape, broadcast_places(other.shape, *shape));
      result.shape = *shape;
      result.items.clear();
      for (std::size_t k = 0; k < left.items.size(); ++k) {
        auto item = computed(call, *row, left.dtype, left.items[k], right.items[k]);
        if (!item) return std::nullopt;
        result.items.push_back(std::move(*item));
      }
      if (row->truth) result.dtype = DType::boolean;
    }
    return result;
  };
}

HostFunction host_unary(std::string_view op) {
  const auto* row = std::ranges::find(unary_rows, op, &UnaryRow::op);
  MASE_CHECK(row != std::end(unary_rows), "no such operator on host tensors");
  return [row](Call& call) -> std::optional<HostTensor> {
    HostTensor tensor = call.host(0);
    const bool real = is_real(tensor.dtype);
    if (!tensor.is_constant() || (real ? !row->reals : !row->integers)) return std::nullopt;
    for (ir::Value& item : tensor.items)
      item = real ? ir::Value(rounded(row->reals(item.as_double()), tensor.dtype))
                  : item_of(row->integers(whole(item)), tensor.dtype);
    return tensor;
  };
}

HostFunction host_reduction(std::string_view op) {
  static const std::map<std::string_view, std::string_view> combined{
      {"ReduceProd", "Mul"}, {"ReduceSum", "Add"}, {"ReduceMax", "Max"}, {"ReduceMin", "Min"}};
  const auto* row = std::ranges::find(binary_rows, combined.at(op), &BinaryRow::op);
  return [row](Call& call) -> std::optional<HostTensor> {
    const HostTensor tensor = call.host(0);
    const auto rank = static_cast<std::int64_t>(tensor.shape.size());
    // Only whole vectors, which is what shapes are.
    if (rank != 1 || tensor.items.empty()) return std::nullopt;
    const auto axes = call.axes(1, rank);
    if (axes && axes->empty() && call.integer("noop_with_empty_axes", 0) != 0) return tensor;
    std::optional<ir::Value> total = tensor.items[0];
    for (std::size_t i = 1; i < tensor.items.size() && total; ++i)
      total = computed(call, *row, tensor.dtype, *total, tensor.items[i]);
    if (!total) return std::nullopt;
    return HostTensor{
        tensor.dtype, call.integer("keepdims", 1) != 0 ? Shape{1} : Shape{}, {std::move(*total)}};
  };
}

}  // namespace mase::onnx
