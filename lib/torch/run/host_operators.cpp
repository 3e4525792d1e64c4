// SPDX-License-Identifier: Apache-2.0
// Host operators: Python arithmetic on integers, floats and lists, as in TorchScript, and the
// operators of mase. They are not in the dispatcher, so they are defined here.
#include <ATen/core/Tensor.h>

#include <cmath>
#include <map>
#include <numeric>

#include "base/error.hpp"
#include "torch/run/collectives.hpp"
#include "torch/run/operators.hpp"
#include "torch/run/tensors.hpp"

namespace mase::libtorch {
namespace {

using Arguments = std::vector<c10::IValue>;

std::int64_t integer(const c10::IValue& value) {
  return value.isBool() ? static_cast<std::int64_t>(value.toBool()) : value.toInt();
}

double number(const c10::IValue& value) {
  return value.isDouble() ? value.toDouble() : static_cast<double>(integer(value));
}

void refuse_zero(bool zero) {
  if (zero) file_error("division by zero");
}

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  refuse_zero(b == 0);
  if (b == -1) return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(a));
  const std::int64_t quotient = a / b;
  return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

// Unsigned arithmetic wraps as TorchScript's integers do, without undefined behaviour.
std::int64_t add_int(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
std::int64_t sub_int(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
std::int64_t mul_int(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
std::int64_t mod_int(std::int64_t a, std::int64_t b) {
  return sub_int(a, mul_int(floor_divide(a, b), b));
}

/// The greatest common divisor; 0 for two zeros. For the smallest integer twice it is 2^63, which
/// wraps.
std::int64_t gcd_int(std::int64_t a, std::int64_t b) {
  const auto magnitude = [](std::int64_t v) {
    return v < 0 ? 0 - static_cast<std::uint64_t>(v) : static_cast<std::uint64_t>(v);
  };
  return static_cast<std::int64_t>(std::gcd(magnitude(a), magnitude(b)));
}

double add_float(double a, double b) { return a + b; }
double sub_float(double a, double b) { return a - b; }
double mul_float(double a, double b) { return a * b; }
double div_float(double a, double b) {
  refuse_zero(b == 0);
  return a / b;
}
double floordiv_float(double a, double b) { return std::floor(div_float(a, b)); }
double mod_float(double a, double b) {
  refuse_zero(b == 0);
  return std::fmod(b + std::fmod(a, b), b);
}
bool eq(double a, double b) { return a == b; }
bool ne(double a, double b) { return a != b; }
bool lt(double a, double b) { return a < b; }
bool le(double a, double b) { return a <= b; }
bool gt(double a, double b) { return a > b; }
bool ge(double a, double b) { return a >= b; }
std::int64_t min_int(std::int64_t a, std::int64_t b) { return std::min(a, b); }
std::int64_t max_int(std::int64_t a, std::int64_t b) { return std::max(a, b); }

template <auto F>
c10::IValue on_ints(const Arguments& in) {
  return F(integer(in[0]), integer(in[1]));
}
template <auto F>
c10::IValue on_numbers(const Arguments& in) {
  return F(number(in[0]), number(in[1]));
}

/// Computes with integers if both are integers, otherwise with floats.
template <auto OfIntegers, auto OfFloats>
c10::IValue on_scalars(const Arguments& in) {
  if (in[0].isDouble() || in[1].isDouble()) return on_numbers<OfFloats>(in);
  return on_ints<OfIntegers>(in);
}
c10::IValue divide_and_rest(const Arguments& in) {
  return c10::ivalue::Tuple::create(on_ints<floor_divide>(in), on_ints<mod_int>(in));
}

c10::IValue all_sizes(const Arguments& in) { return in[0].toTensor().sizes().vec(); }
c10::IValue one_size(const Arguments& in) { return in[0].toTensor().size(integer(in[1])); }
c10::IValue rank(const Arguments& in) { return in[0].toTensor().dim(); }
c10::IValue count(const Arguments& in) { return in[0].toTensor().numel(); }
c10::IValue length(const Arguments& in) {
  if (in[0].isTensor()) return in[0].toTensor().size(0);
  return static_cast<std::int64_t>(in[0].toListRef().size());
}
c10::IValue int_of(const Arguments& in) { return in[0].toTensor().item().toLong(); }
c10::IValue float_of(const Arguments& in) { return in[0].toTensor().item().toDouble(); }
c10::IValue scalar_of(const Arguments& in) {
  const at::Tensor& tensor = in[0].toTensor();
  return tensor.is_floating_point() ? float_of(in) : int_of(in);
}
c10::IValue negate(const Arguments& in) { return sub_int(0, integer(in[0])); }
c10::IValue invert(const Arguments& in) { return !in[0].toBool(); }
c10::IValue to_float(const Arguments& in) { return number(in[0]); }
c10::IValue to_int(const Arguments& in) {
  return in[0].isDouble() ? static_cast<std::int64_t>(in[0].toDouble()) : integer(in[0]);
}
c10::IValue square_root(const Arguments& in) { return std::sqrt(number(in[0])); }
c10::IValue concatenate(const Arguments& in) {
  std::vector<std::int64_t> out = in[0].toIntVector();
  const std::vector<std::int64_t> tail = in[1].toIntVector();
  out.insert(out.end(), tail.begin(), tail.end());
  return out;
}

std::size_t axis(const c10::IValue& value) { return static_cast<std::size_t>(integer(value)); }

/// Computes x / (|x| + 1) with the steps of torch.nn.functional.softsign.
c10::IValue softsign(const Arguments& in) {
  const at::Tensor x = in[0].toTensor();
  return x.div(x.abs().add(1));
}

/// Counts the thresholds, along the last dimension of the second tensor, that each element of the
/// first reaches: one comparison of all elements for each, which needs no memory for all at once.
c10::IValue multi_threshold(const Arguments& in) {
  const at::Tensor x = in[0].toTensor(), thresholds = in[1].toTensor();
  at::Tensor count = at::zeros_like(x);
  for (std::int64_t i = 0; i < thresholds.size(-1); ++i) count.add_(x.ge(thresholds.select(-1, i)));
  return count.mul_(number(in[2])).add_(number(in[3]));
}

c10::IValue all_reduce(const Arguments& in) {
  return collectives_in_use().all_reduce(in[0].toTensor(), axis(in[1]));
}
c10::IValue all_gather(const Arguments& in) {
  return collectives_in_use().all_gather(in[0].toTensor(), axis(in[1]), integer(in[2]));
}
c10::IValue reduce_scatter(const Arguments& in) {
  return collectives_in_use().reduce_scatter(in[0].toTensor(), axis(in[1]), integer(in[2]));
}
c10::IValue all_to_all(const Arguments& in) {
  return collectives_in_use().all_to_all(in[0].toTensor(), axis(in[1]), integer(in[2]),
                                         integer(in[3]));
}
c10::IValue send(const Arguments& in) {
  collectives_in_use().send(in[0].toTensor(), integer(in[1]), integer(in[2]));
  return in[0];
}
c10::IValue receive(const Arguments& in) {
  at::Tensor values =
      at::empty(in[0].toIntVector(), scalar_type(parse_dtype(in[1].toStringView())));
  collectives_in_use().receive(values, integer(in[2]), integer(in[3]));
  return values;
}

const std::vector<HostOperator>& table() {
  static const std::vector<HostOperator> rows{
      {"aten::size", {"self"}, all_sizes},
      {"aten::size.int", {"self", "dim"}, one_size},
      {"aten::dim", {"self"}, rank},
      {"aten::numel", {"self"}, count},
      {"aten::len.Tensor", {"t"}, length},
      {"aten::len.t", {"a"}, length},
      {"aten::add.int", {"a", "b"}, on_ints<add_int>},
      {"aten::sub.int", {"a", "b"}, on_ints<sub_int>},
      {"aten::mul.int", {"a", "b"}, on_ints<mul_int>},
      {"aten::floordiv.int", {"a", "b"}, on_ints<floor_divide>, false, true},
      {"aten::floordiv", {"a", "b"}, on_scalars<floor_divide, floordiv_float>, false, true},
      {"aten::remainder.int", {"a", "b"}, on_ints<mod_int>, false, true},
      {"aten::remainder", {"a", "b"}, on_scalars<mod_int, mod_float>, false, true},
      {"aten::divmod.int", {"x", "y"}, divide_and_rest, false, true},
      {"aten::gcd.int", {"a", "b"}, on_ints<gcd_int>, false, true},
      {"aten::div.int", {"a", "b"}, on_numbers<div_float>},
      {"aten::neg.int", {"a"}, negate},
      {"prim::min.int", {"a", "b"}, on_ints<min_int>},
      {"prim::max.int", {"a", "b"}, on_ints<max_int>},
      {"aten::add.float", {"a", "b"}, on_numbers<add_float>},
      {"aten::sub.float", {"a", "b"}, on_numbers<sub_float>},
      {"aten::mul.float", {"a", "b"}, on_numbers<mul_float>},
      {"aten::mul.int_float", {"a", "b"}, on_numbers<mul_float>},
      {"aten::mul.float_int", {"a", "b"}, on_numbers<mul_float>},
      {"aten::div.float", {"a", "b"}, on_numbers<div_float>},
      {"aten::floordiv.float", {"a", "b"}, on_numbers<floordiv_float>},
      {"aten::sqrt.int", {"a"}, square_root},
      {"aten::sqrt.float", {"a"}, square_root},
      {"aten::Float.Scalar", {"a"}, to_float},
      {"aten::Float.int", {"a"}, to_float},
      {"aten::Int.Scalar", {"a"}, to_int},
      {"aten::Int.float", {"a"}, to_int},
      {"aten::add.t", {"a", "b"}, concatenate},
      {"aten::eq.int", {"a", "b"}, on_numbers<eq>},
      {"aten::ne.int", {"a", "b"}, on_numbers<ne>},
      {"aten::lt.int", {"a", "b"}, on_numbers<lt>},
      {"aten::le.int", {"a", "b"}, on_numbers<le>},
      {"aten::gt.int", {"a", "b"}, on_numbers<gt>},
      {"aten::ge.int", {"a", "b"}, on_numbers<ge>},
      {"aten::__not__", {"self"}, invert},
      {"mase::softsign", {"self"}, softsign},
      {"mase::multi_threshold", {"self", "thresholds", "out_scale", "out_bias"}, multi_threshold},
      {"mase::all_reduce", {"self", "axis"}, all_reduce},
      {"mase::all_gather", {"self", "axis", "dim"}, all_gather},
      {"mase::reduce_scatter", {"self", "axis", "dim"}, reduce_scatter},
      {"mase::all_to_all", {"self", "axis", "from", "to"}, all_to_all},
      {"mase::send", {"self", "to", "tag", "after"}, send},
      {"mase::receive", {"shape", "dtype", "from", "tag", "after"}, receive},
      {"aten::Int.Tensor", {"a"}, int_of, true},
      {"aten::IntImplicit", {"a"}, int_of, true},
      {"aten::Float.Tensor", {"a"}, float_of, true},
      {"aten::FloatImplicit", {"a"}, float_of, true},
      {"aten::ScalarImplicit", {"a"}, scalar_of, true},
      {"aten::item", {"self"}, scalar_of, true},
  };
  return rows;
}

}  // namespace

const HostOperator* find_own_operator(std::string_view op) {
  static const auto index = [] {
    std::map<std::string_view, const HostOperator*> out;
    for (const HostOperator& row : table()) out.emplace(row.name, &row);
    return out;
  }();
  const auto found = index.find(op);
  return found == index.end() ? nullptr : found->second;
}

const HostOperator* find_host_operator(std::string_view op) {
  const HostOperator* own = find_own_operator(op);
  return own ? own : find_scalar_operator(op);
}

}  // namespace mase::libtorch
