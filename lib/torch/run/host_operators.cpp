// SPDX-License-Identifier: Apache-2.0
// Host operators: Python arithmetic on integers, floats and lists, as TorchScript writes it, and
// the operators of our own. They are no dispatcher operators, so they are defined here.
#include <ATen/core/Tensor.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include "base/error.hpp"
#include "base/text.hpp"
#include "ir/op_table.hpp"
#include "torch/run/operators.hpp"

namespace mase::libtorch {

namespace jit = torch::jit;

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

double add_float(double a, double b) { return a + b; }
double sub_float(double a, double b) { return a - b; }
double mul_float(double a, double b) { return a * b; }
double div_float(double a, double b) {
  refuse_zero(b == 0);
  return a / b;
}
double floordiv_float(double a, double b) { return std::floor(div_float(a, b)); }
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

c10::IValue all_sizes(const Arguments& in) { return in[0].toTensor().sizes().vec(); }
c10::IValue one_size(const Arguments& in) { return in[0].toTensor().size(integer(in[1])); }
c10::IValue rank(const Arguments& in) { return in[0].toTensor().dim(); }
c10::IValue count(const Arguments& in) { return in[0].toTensor().numel(); }
c10::IValue length(const Arguments& in) {
  if (in[0].isTensor()) return in[0].toTensor().size(0);
  return static_cast<std::int64_t>(in[0].toListRef().size());
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

/// x / (|x| + 1), in the steps of torch.nn.functional.softsign.
c10::IValue softsign(const Arguments& in) {
  const at::Tensor x = in[0].toTensor();
  return x.div(x.abs().add(1));
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
      {"aten::floordiv.int", {"a", "b"}, on_ints<floor_divide>},
      {"aten::remainder.int", {"a", "b"}, on_ints<mod_int>},
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
  };
  return rows;
}

bool is_number(const c10::TypePtr& type) {
  const auto kind = type->kind();
  return kind == c10::TypeKind::IntType || kind == c10::TypeKind::FloatType ||
         kind == c10::TypeKind::BoolType || kind == c10::TypeKind::NumberType;
}

/// Whether nothing but numbers and text goes in and one number comes out: such an operator can
/// neither keep, change nor write anything, and what it returns does not grow.
bool is_scalar(const c10::FunctionSchema& schema) {
  const auto is_plain = [](const c10::Argument& argument) {
    return is_number(argument.type()) || argument.type()->kind() == c10::TypeKind::StringType;
  };
  return !schema.is_vararg() && !schema.is_mutable() && !schema.arguments().empty() &&
         std::ranges::all_of(schema.arguments(), is_plain) && schema.returns().size() == 1 &&
         is_number(schema.returns()[0].type());
}

/// The kind of number that an operator asks for.
c10::IValue as_argument(const c10::IValue& value, const c10::TypePtr& type) {
  if (type->kind() == c10::TypeKind::FloatType) return number(value);
  if (type->kind() == c10::TypeKind::IntType) return integer(value);
  return value;
}

HostOperator from_torchscript(std::string_view name, const jit::Operator& op) {
  HostOperator row{name, {}, {}};
  for (const c10::Argument& argument : op.schema().arguments())
    row.arguments.emplace_back(argument.name());
  row.run = [&op, name](const Arguments& in) {
    jit::Stack stack;
    for (std::size_t i = 0; i < in.size(); ++i)
      stack.push_back(as_argument(in[i], op.schema().arguments()[i].type()));
    try {
      op.getOperation()(stack);
    } catch (const std::exception& error) {
      file_error(std::string(name) + " fails: " + split(error.what(), '\n')[0]);
    }
    return stack.at(0);
  };
  return row;
}

/// TorchScript's own operator, kept once it is asked for.
const HostOperator* find_scalar_operator(std::string_view op) {
  static std::mutex mutex;
  static std::map<std::string, HostOperator, std::less<>> known;
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(op); found != known.end()) return &found->second;
  const std::string base(ir::base_op(op));
  if (is_impure(base) || !(base.starts_with("aten::") || base.starts_with("prim::")))
    return nullptr;
  for (const auto& candidate : jit::getAllOperatorsFor(c10::Symbol::fromQualString(base))) {
    const c10::FunctionSchema& schema = candidate->schema();
    const std::string& overload = schema.overload_name();
    if ((overload.empty() ? base : base + "." + overload) != op || !is_scalar(schema)) continue;
    const auto entry = known.emplace(op, HostOperator{}).first;
    entry->second = from_torchscript(entry->first, *candidate);
    return &entry->second;
  }
  return nullptr;
}

}  // namespace

const HostOperator* find_host_operator(std::string_view op) {
  static const auto index = [] {
    std::map<std::string_view, const HostOperator*> out;
    for (const HostOperator& row : table()) out.emplace(row.name, &row);
    return out;
  }();
  const auto found = index.find(op);
  return found == index.end() ? find_scalar_operator(op) : found->second;
}

}  // namespace mase::libtorch
