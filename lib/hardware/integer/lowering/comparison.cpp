// SPDX-License-Identifier: Apache-2.0
// Lowering of comparisons and of logic. A comparison is the sign of a difference, exact, and a
// table of what the three signs mean; truth is 1, of one bit.
#include "hardware/integer/lowering/comparison.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "hardware/integer/lowering/arithmetic.hpp"
#include "hardware/integer/lowering/host_numbers.hpp"
#include "hardware/integer/lowering/lowering_table.hpp"
#include "hardware/integer/lowering/mask.hpp"
#include "hardware/integer/lowering/matrix.hpp"

namespace mase::integer {
namespace {

/// What x <op> y is where x is less than y, equal and greater.
struct Relation {
  bool less, equal, greater;
  Relation reversed() const { return {greater, equal, less}; }
};

const Requantise sign_only{0, 1, formats::Rounding::nearest_even, -1, 1};
const Interval truth{0, 1};

/// A number, as such or as the only one of a constant tensor.
std::optional<double> number_of(const ir::Graph& graph, const ir::Value* value) {
  if (!value) return std::nullopt;
  if (value->is_number()) return value->as_double();
  if (!value->is_node() || graph.node(value->node()).kind != ir::NodeKind::get_attr)
    return std::nullopt;
  const Array& stored = graph.tensors.at(graph.node(value->node()).target).value;
  if (stored.size() != 1) return std::nullopt;
  return stored.to_float32().span<float>()[0];
}

Constants number_code(std::int64_t code, int frac) {
  Constants constants{{}, {}, {code}};
  constants.fit(frac);
  return constants;
}

/// -1, 0 or 1, as codes. A number between two codes is half a place above one: the codes are
/// doubled there.
StreamView sign_against(const Call& call, const StreamView& x, double number) {
  const FixedType type = call.lowering.value(x.id).type;
  const double place = std::ldexp(number, type.frac), below = std::floor(place);
  if (std::isnan(place)) throw Refusal{"it compares with NaN"};
  const auto nearest = static_cast<std::int64_t>(
      std::clamp(below, static_cast<double>(type.low()) - 1, static_cast<double>(type.high()) + 1));
  const std::int64_t scale = below == place ? 1 : 2;
  auto [step, accumulator] = scale_step(call, x, number_code(scale, 0),
                                        number_code(-scale * nearest - (scale - 1), type.frac));
  return call.lowering.emit_before(call.node, "sign", std::move(step), {x.id}, accumulator,
                                   sign_only, call.lowering.layout_of(x));
}

StreamView sign_of_difference(const Call& call) {
  const auto [a, b] = alike(call, "self", "other");
  const auto [binary, accumulator] = binary_step(call, BinaryKind::subtract, a, b);
  return call.lowering.emit_before(call.node, "sign", binary, {a.id, b.id}, accumulator, sign_only,
                                   call.lowering.layout_of(a));
}

Operand related(const Call& call, const StreamView& sign, const Relation& relation) {
  // Entries in the order of two bits: 0, 1, -2 and -1. A sign is never -2.
  Lookup table{"relation", {relation.equal, relation.greater, relation.less, relation.less}};
  return call.lowering.emit(call.node, std::move(table), {sign.id}, {truth, 0}, exactly(truth), 0,
                            call.lowering.layout_of(sign));
}

Operand compare(const Call& call, const Relation& relation) {
  const bool first = is_stream(call, "self"), second = is_stream(call, "other");
  if (first && second) return related(call, sign_of_difference(call), relation);
  if (!first && !second) throw Refusal{"it compares constants; fold it into one"};
  const StreamView x = call.stream(first ? "self" : "other");
  const auto number = number_in(call, first ? "other" : "self");
  if (!number) throw Refusal{"it compares with constants that differ; one number has a datapath"};
  return related(call, sign_against(call, x, *number), first ? relation : relation.reversed());
}

StreamView truth_stream(const Call& call, std::string_view argument) {
  const StreamView x = call.stream(argument);
  // ~x of whole numbers is another function.
  const bool logic = call.node.info.dtype == DType::boolean;
  if (!logic || !is_truth(call, x))
    throw Refusal{"its input is not a truth value; compare it with a number"};
  return x;
}

Operand lower_not(const Call& call) {
  const StreamView x = truth_stream(call, "self");
  auto [step, accumulator] = scale_step(call, x, number_code(-1, 0), number_code(1, 0));
  return call.lowering.emit(call.node, std::move(step), {x.id}, accumulator, exactly(truth), 0,
                            call.lowering.layout_of(x));
}

/// With a constant: x * c, or x * (1 - c) + c.
Operand logic_with_constant(const Call& call, BinaryKind kind, std::string_view stream,
                            std::string_view constant) {
  const StreamView x = repeated(call, truth_stream(call, stream), call.frame_shape(), stream);
  Constants ones = in_stream_order(call, x, truths_of(call, constant));
  std::optional<Constants> shift;
  if (kind == BinaryKind::maximum) {
    shift = ones;
    for (std::int64_t& code : ones.codes) code = 1 - code;
  }
  auto [step, accumulator] = scale_step(call, x, std::move(ones), std::move(shift));
  return call.lowering.emit(call.node, std::move(step), {x.id}, accumulator, exactly(truth), 0,
                            call.lowering.layout_of(x));
}

/// Two streams give a product, or the larger one.
Operand lower_logic(const Call& call, BinaryKind kind) {
  const bool first = is_stream(call, "self"), second = is_stream(call, "other");
  if (!first && !second) throw Refusal{"it joins constants; pass fold_constants"};
  if (!first) return logic_with_constant(call, kind, "other", "self");
  if (!second) return logic_with_constant(call, kind, "self", "other");
  for (const char* argument : {"self", "other"}) truth_stream(call, argument);
  const auto [a, b] = alike(call, "self", "other");
  const auto [binary, accumulator] = binary_step(call, kind, a, b);
  return call.lowering.emit(call.node, binary, {a.id, b.id}, accumulator, exactly(truth), 0,
                            call.lowering.layout_of(a));
}

}  // namespace

bool is_truth(const Call& call, const StreamView& x) {
  return call.lowering.value(x.id).type == type_for(0, 1, 0);
}

std::optional<FixedType> compared_type(const ir::Graph& graph, const ir::Node& reader,
                                       ir::NodeId id) {
  if (graph.node(id).info.dtype != DType::int64 || reader.info.dtype != DType::boolean)
    return std::nullopt;
  if (reader.kind == ir::NodeKind::output || is_host_value(reader)) return std::nullopt;
  const std::string op = op_of(graph, reader);
  if (op == "to") return type_for(-1, 1, 0);
  constexpr std::array comparisons{"gt",          "greater", "lt", "less", "le",
                                   "lessorequal", "ge",      "eq", "ne"};
  if (std::ranges::find(comparisons, op) == comparisons.end()) return std::nullopt;
  const ir::Value* self = reader.find("self");
  const bool first = self && self->is_node() && self->node() == id;
  const auto number = number_of(graph, reader.find(first ? "other" : "self"));
  if (!number || !(std::abs(*number) < 0x1p30)) return std::nullopt;
  return type_for(static_cast<std::int64_t>(std::floor(*number)) - 1,
                  static_cast<std::int64_t>(std::ceil(*number)) + 1, 0);
}

StreamView as_truth(const Call& call, const StreamView& x) {
  if (is_truth(call, x)) return x;
  return std::get<StreamView>(related(call, sign_against(call, x, 0), {true, false, true}));
}

std::vector<LoweringRow> comparison_rows() {
  const auto greater = [](const Call& call) { return compare(call, {false, false, true}); };
  const auto less = [](const Call& call) { return compare(call, {true, false, false}); };
  const auto at_most = [](const Call& call) { return compare(call, {true, true, false}); };
  std::vector<LoweringRow> rows{
      {"gt", greater},
      {"greater", greater},
      {"lt", less},
      {"less", less},
      {"le", at_most},
      {"lessorequal", at_most},
      {"ge",
       [](const Call& call) {
         return compare(call, {false, true, true});
       }},
      {"eq",
       [](const Call& call) {
         return compare(call, {false, true, false});
       }},
      {"ne",
       [](const Call& call) {
         return compare(call, {true, false, true});
       }},
      {"not", lower_not},
      {"invert", lower_not},
  };
  for (const char* op : {"and", "bitwise_and"})
    rows.push_back({op, [](const Call& call) { return lower_logic(call, BinaryKind::multiply); }});
  for (const char* op : {"or", "bitwise_or"})
    rows.push_back({op, [](const Call& call) { return lower_logic(call, BinaryKind::maximum); }});
  return rows;
}

}  // namespace mase::integer
