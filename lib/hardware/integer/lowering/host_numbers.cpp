// SPDX-License-Identifier: Apache-2.0
// Numbers on the host that are the same for every batch: sizes of frames, and what is made from
// them.
#include "hardware/integer/lowering/host_numbers.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "hardware/integer/lowering/call.hpp"
#include "hardware/integer/lowering/floor_divide.hpp"
#include "ir/op_table.hpp"

namespace mase::integer {
namespace {

using ValueKind = ir::Value::Kind;
using Number = std::int64_t;

struct Arithmetic {
  std::string_view op;
  Number (*of)(Number a, Number b);
};

/// Python's functions of two whole numbers; the second of a quotient is not 0.
constexpr std::array<Arithmetic, 5> functions{
    {{"aten::add.int", [](Number a, Number b) { return a + b; }},
     {"aten::sub.int", [](Number a, Number b) { return a - b; }},
     {"aten::mul.int", [](Number a, Number b) { return a * b; }},
     {"aten::floordiv.int", floor_divide<Number>},
     {"aten::remainder.int", [](Number a, Number b) { return a - floor_divide(a, b) * b; }}}};

struct Function {
  std::string_view op;
  double (*of)(double a, double b);
};

/// The same with numbers that are not whole, of one or two arguments.
constexpr std::array<Function, 9> real_functions{
    {{"aten::pow.int_float", [](double a, double b) { return std::pow(a, b); }},
     {"aten::sqrt.int", [](double a, double) { return std::sqrt(a); }},
     {"aten::sqrt.float", [](double a, double) { return std::sqrt(a); }},
     {"aten::div.int", [](double a, double b) { return a / b; }},
     {"aten::div", [](double a, double b) { return a / b; }},
     {"aten::div.float", [](double a, double b) { return a / b; }},
     {"aten::mul.float", [](double a, double b) { return a * b; }},
     {"aten::Float.int", [](double a, double) { return a; }},
     {"aten::Float.Scalar", [](double a, double) { return a; }}}};

ir::Value computed_real(const ir::Node& node) {
  const auto row = std::ranges::find(real_functions, node.op, &Function::op);
  const ir::Value *a = node.find("a"), *b = node.find("b");
  if (row == real_functions.end() || !a || !a->is_number() || (b && !b->is_number())) return {};
  return row->of(a->as_double(), b ? b->as_double() : 0);
}

/// The sizes of a tensor as the model has it; none in the place of the batch.
ir::Value sizes_of(const Lowering& lowering, const ir::Node& tensor) {
  const auto* stream = std::get_if<StreamView>(&lowering.operand(tensor.id));
  if (const ir::Value* known = lowering.model_sizes(tensor.id); stream && known) return *known;
  const bool constant = tensor.kind == ir::NodeKind::get_attr;
  ir::Value::List sizes;
  for (std::size_t d = 0; d < tensor.info.shape.size(); ++d)
    sizes.push_back(constant || (stream && d != 0) ? ir::Value(tensor.info.shape[d]) : ir::Value());
  return ir::Value::list(std::move(sizes));
}

/// Part of a list, as sizes[-3:]; steps of 1 only.
ir::Value part_of(const ir::Value::List& list, const ir::Value& slice) {
  const auto count = static_cast<Number>(list.size());
  const auto bound = [&](const ir::Value& given, Number otherwise) {
    if (given.kind() != ValueKind::integer) return otherwise;
    return std::clamp<Number>(given.as_int() + (given.as_int() < 0 ? count : 0), 0, count);
  };
  if (!slice.items()[2].is_none() && !(slice.items()[2] == ir::Value(1))) return {};
  const Number first = bound(slice.items()[0], 0);
  const Number last = std::max(first, bound(slice.items()[1], count));
  return ir::Value::list(ir::Value::List(list.begin() + first, list.begin() + last));
}

ir::Value item_of(const ir::Value& list, const ir::Value* index) {
  if (list.kind() != ValueKind::list || !index) return {};
  if (index->kind() == ValueKind::slice) return part_of(list.items(), *index);
  if (index->kind() != ValueKind::integer) return {};
  const auto count = static_cast<Number>(list.items().size());
  const Number place = index->as_int() + (index->as_int() < 0 ? count : 0);
  return place >= 0 && place < count ? list.items()[at(place)] : ir::Value();
}

ir::Value computed(const ir::Node& node) {
  const auto row = std::ranges::find(functions, node.op, &Arithmetic::op);
  const ir::Value *a = node.find("a"), *b = node.find("b");
  if (row == functions.end()) return computed_real(node);
  if (!a || !b || a->kind() != ValueKind::integer || b->kind() != ValueKind::integer) return {};
  const bool divides = node.op == "aten::floordiv.int" || node.op == "aten::remainder.int";
  if (divides && b->as_int() == 0) return {};
  return row->of(a->as_int(), b->as_int());
}

/// The whole number in a constant tensor.
ir::Value stored(const ir::Graph& graph, const Parameter& parameter) {
  const Array& value = graph.tensors.at(parameter.path).value;
  if (value.dtype() != DType::int64 || value.size() != 1) return {};
  return value.span<Number>().front();
}

}  // namespace

bool is_host_value(const ir::Node& node) {
  const bool list = node.info.kind == ir::ValueInfo::Kind::list && !node.info.elements.empty();
  return list ? std::ranges::all_of(node.info.elements, &ir::ValueInfo::is_number)
              : node.info.is_number();
}

ir::Value host_number(Lowering& lowering, const ir::Node& node) {
  if (node.op == "aten::Int.Tensor") {
    const Parameter* constant = Call{lowering, node}.parameter("a");
    return constant ? stored(lowering.graph(), *constant) : ir::Value();
  }
  const bool item = node.op == "mase::getitem";
  if (item && node.find("value")) return item_of(*node.find("value"), node.find("index"));
  if (ir::base_op(node.op) != "aten::size") return computed(node);
  const ir::Value* self = node.find("self");
  if (!self || !self->is_node()) return {};
  const ir::Value sizes = sizes_of(lowering, lowering.graph().node(self->node()));
  return node.find("dim") ? item_of(sizes, node.find("dim")) : sizes;
}

}  // namespace mase::integer
