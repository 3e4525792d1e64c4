// SPDX-License-Identifier: Apache-2.0
// Numbers on the host that are the same for every batch: sizes of frames, and whole numbers that
// are made from such.
#include <algorithm>
#include <array>

#include "hardware/integer/lowering.hpp"

namespace mase::integer {
namespace {

using ValueKind = ir::Value::Kind;
using Number = std::int64_t;

Number floor_quotient(Number a, Number b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

struct Arithmetic {
  std::string_view op;
  Number (*of)(Number a, Number b);
};

/// Python's functions of two whole numbers; the second of a quotient is not 0.
constexpr std::array<Arithmetic, 5> functions{
    {{"aten::add.int", [](Number a, Number b) { return a + b; }},
     {"aten::sub.int", [](Number a, Number b) { return a - b; }},
     {"aten::mul.int", [](Number a, Number b) { return a * b; }},
     {"aten::floordiv.int", floor_quotient},
     {"aten::remainder.int", [](Number a, Number b) { return a - floor_quotient(a, b) * b; }}}};

/// The sizes of a tensor; none in the place of the batch.
ir::Value sizes_of(const ir::Node& tensor, const Operand& operand) {
  const auto* stream = std::get_if<StreamView>(&operand);
  const bool constant = tensor.kind == ir::NodeKind::get_attr;
  ir::Value::List sizes;
  for (std::size_t d = 0; d < tensor.info.shape.size(); ++d)
    sizes.push_back(constant || (stream && d != stream->batch) ? ir::Value(tensor.info.shape[d])
                                                               : ir::Value());
  return ir::Value::list(std::move(sizes));
}

ir::Value item_of(const ir::Value& list, const ir::Value* index) {
  if (list.kind() != ValueKind::list || !index || index->kind() != ValueKind::integer) return {};
  const auto count = static_cast<Number>(list.items().size());
  const Number place = index->as_int() + (index->as_int() < 0 ? count : 0);
  return place >= 0 && place < count ? list.items()[at(place)] : ir::Value();
}

ir::Value computed(const ir::Node& node) {
  const auto row = std::ranges::find(functions, node.op, &Arithmetic::op);
  const ir::Value *a = node.find("a"), *b = node.find("b");
  if (row == functions.end() || !a || !b || a->kind() != ValueKind::integer ||
      b->kind() != ValueKind::integer)
    return {};
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
  const ir::Value sizes =
      sizes_of(lowering.graph().node(self->node()), lowering.operand(self->node()));
  return node.find("dim") ? item_of(sizes, node.find("dim")) : sizes;
}

}  // namespace mase::integer
