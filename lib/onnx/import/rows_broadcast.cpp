// SPDX-License-Identifier: Apache-2.0
// Rows of functions of the elements of several tensors that broadcast: arithmetic, comparisons,
// logic, limits and choices.
#include <algorithm>
#include <cmath>
#include <utility>

#include "onnx/import/host.hpp"
#include "onnx/import/quantizer.hpp"
#include "onnx/import/rows.hpp"
#include "onnx/import/steps.hpp"
#include "onnx/import/written_out.hpp"

namespace mase::onnx {
namespace {

Row binary(std::string_view op, std::string_view aten, bool commutes = false) {
  return {op, 7, [=](Call& call) { broadcast(call, aten, commutes); }, host_binary(op)};
}

/// Without an overload for numbers.
Row of_tensors(std::string_view op, std::string_view aten, HostFunction host = {}) {
  return {op, 7,
          [=](Call& call) {
            call.result(call.emit(aten, {{"self", call.ref(0)}, {"other", call.ref(1)}}));
          },
          std::move(host)};
}

Row of_bits(std::string_view op, std::string_view aten) {
  return {op, 18,
          [=](Call& call) { call.result(combined(call, aten, call.tensor(0), call.ref(1))); }};
}

ir::NodeId all_combined(Call& call, std::string_view aten) {
  ir::NodeId result = call.tensor(0);
  for (std::size_t i = 1; i < call.count(); ++i)
    result = call.emit(aten, {{"self", ref(result)}, {"other", call.ref(i)}});
  return result;
}

/// An operator of any number of tensors, two by two.
Row variadic(std::string_view op, std::string_view aten, HostFunction host = {}) {
  return {op, 6, [aten](Call& call) { call.result(all_combined(call, aten)); }, std::move(host)};
}

void mean(Call& call) {
  const ir::NodeId sum = all_combined(call, "aten::add.Tensor");
  call.result(call.count() == 1
                  ? sum
                  : combined(call, "aten::div", sum, static_cast<double>(call.count())));
}

/// The quotient of integers is rounded towards zero.
void divide(Call& call) {
  if (is_floating(call.dtype(0))) return broadcast(call, "aten::div", false);
  call.result(
      call.emit("aten::div.Tensor_mode",
                {{"self", call.ref(0)}, {"other", call.ref(1)}, {"rounding_mode", "trunc"}}));
}

/// The sign is that of the divisor, or with fmod that of the dividend.
void modulo(Call& call) {
  broadcast(call, call.integer("fmod", 0) != 0 ? "aten::fmod" : "aten::remainder", false);
}

std::optional<HostTensor> host_modulo(Call& call) {
  static const HostFunction remainder = host_binary("Mod");
  return call.integer("fmod", 0) != 0 ? std::nullopt : remainder(call);
}

/// A whole number stays one, as PyTorch writes x ** 2.
ir::Value exponent_of(const ir::Value& given) {
  if (given.kind() != ir::Value::Kind::number) return given;
  const double number = given.as_double();
  constexpr double most = 1 << 20;
  if (std::trunc(number) == number && std::fabs(number) < most)
    return static_cast<std::int64_t>(number);
  return given;
}

/// The result has the dtype of the base.
void raise_to(Call& call) {
  const DType base = call.dtype(0), exponent = call.dtype(1);
  const bool through_reals = !is_floating(base) && is_floating(exponent);
  ir::NodeId self = call.tensor(0);
  if (through_reals) self = converted(call, self, exponent);
  ir::NodeId result = ir::no_node;
  if (const ir::Value number = call.scalar_or_ref(1, call.rank(0)); !number.is_node()) {
    result = call.emit("aten::pow.Tensor_Scalar",
                       {{"self", ref(self)}, {"exponent", exponent_of(number)}});
  } else {
    const ir::NodeId other = through_reals ? call.tensor(1) : converted(call, call.tensor(1), base);
    result = call.emit("aten::pow.Tensor_Tensor", {{"self", ref(self)}, {"exponent", ref(other)}});
  }
  call.result(converted(call, result, base));
}

void shift(Call& call) {
  const std::string direction = call.text("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    call.wrong("its direction is '" + direction + "'");
  const std::string_view aten =
      direction == "LEFT" ? "aten::bitwise_left_shift" : "aten::bitwise_right_shift";
  call.result(combined(call, aten, call.tensor(0), call.ref(1)));
}

/// A limit: a number, a tensor of one element, or None.
ir::Value limit(Call& call, std::size_t i, std::string_view attribute) {
  if (call.opset() < 11)
    return call.has_attribute(attribute) ? ir::Value(call.number(attribute, 0)) : ir::Value();
  return call.has(i) ? call.scalar_or_ref(i) : ir::Value();
}

/// Codes that are limited by constants stay codes of the same scale: those of a constant, or of a
/// tensor whose values are limited, too. False for other operands.
bool clip_codes(Call& call) {
  const Operand& operand = call.operand(0);
  const Array* ends[] = {call.has(1) ? call.constant(1) : nullptr,
                         call.has(2) ? call.constant(2) : nullptr};
  if (!ends[0] || !ends[1] || ends[0]->size() != 1 || ends[1]->size() != 1) return false;
  const float low = ends[0]->aligned().to_float32().span<float>()[0],
              high = ends[1]->aligned().to_float32().span<float>()[0];
  if (!(low <= high)) return false;
  if (operand.constant && operand.constant->type != ElementType::undefined) {
    Constant limited = *operand.constant;
    for (float& code : limited.value.mutable_span<float>()) code = std::clamp(code, low, high);
    limited.path.clear();
    call.result(Operand{.constant = std::move(limited)});
    return true;
  }
  if (!operand.codes) return false;
  const auto step = uniform(operand.codes->scale), zero = uniform(operand.codes->zero);
  if (!step || !zero) return false;
  Codes codes = *operand.codes;
  const auto value = [&](float code) { return (code - *zero) * *step; };
  codes.values = clamped(call, codes.values, value(low), value(high));
  const ir::NodeId node = clamped(call, call.tensor(0), low, high);
  call.result(Operand{.node = node, .codes = std::make_shared<const Codes>(std::move(codes))});
  return true;
}

void clip(Call& call) {
  if (clip_codes(call)) return;
  const ir::Value low = limit(call, 1, "min"), high = limit(call, 2, "max");
  const bool numbers = low.is_number() && high.is_number();
  if (low.is_none() && high.is_none()) return call.result(Operand(call.operand(0)));
  if (numbers && is_floating(call.dtype(0)) && low.as_double() <= high.as_double()) {
    if (low.as_double() == 0 && high.as_double() == 6)
      return call.result(call.layer("aten::relu6", {{"self", call.ref(0)}}, TensorPaths{}));
    return call.result(call.layer(
        "aten::hardtanh",
        {{"self", call.ref(0)}, {"min_val", low.as_double()}, {"max_val", high.as_double()}},
        TensorPaths{}));
  }
  if (!low.is_node() && !high.is_node())
    return call.result(
        call.emit("aten::clamp", {{"self", call.ref(0)}, {"min", low}, {"max", high}}));
  const auto tensor = [&](std::size_t i) { return call.has(i) ? call.ref(i) : ir::Value(); };
  call.result(call.emit("aten::clamp.Tensor",
                        {{"self", call.ref(0)}, {"min", tensor(1)}, {"max", tensor(2)}}));
}

void where(Call& call) {
  call.result(
      call.emit("aten::where.self",
                {{"condition", call.ref(0)}, {"self", call.ref(1)}, {"other", call.ref(2)}}));
}

std::optional<HostTensor> host_where(Call& call) {
  const HostTensor condition = call.host(0), yes = call.host(1), no = call.host(2);
  if (!condition.is_constant() || condition.dtype != DType::boolean || yes.dtype != no.dtype)
    return std::nullopt;
  auto shape = broadcast_shape(yes.shape, no.shape);
  if (shape) shape = broadcast_shape(*shape, condition.shape);
  if (!shape || numel(*shape) > most_host_items) return std::nullopt;
  const auto spread = [&](const HostTensor& tensor) {
    return picked(tensor, *shape, broadcast_places(tensor.shape, *shape)).items;
  };
  const auto choices = spread(condition), ones = spread(yes), others = spread(no);
  HostTensor result{yes.dtype, *shape, {}};
  for (std::size_t i = 0; i < choices.size(); ++i)
    result.items.push_back(choices[i].as_bool() ? ones[i] : others[i]);
  return result;
}

/// A slope for all, or for each channel (dimension 1), is PyTorch's; others are written out.
void prelu(Call& call) {
  const Shape input = call.shape(0), slope = call.shape(1);
  const std::int64_t count = numel(slope);
  const bool per_channel = input.size() >= 2 && count == input[1] &&
                           slope.size() + 1 == input.size() && slope[0] == count;
  if (const Array* given = call.constant(1); given && (count == 1 || per_channel)) {
    Constant weight{given->reshaped({count}),
                    call.operand(1).constant->name,
                    {},
                    call.operand(1).constant->is_parameter};
    return call.result(
        call.layer("aten::prelu", {{"self", call.ref(0)}},
                   TensorPaths{{"weight", call.store("aten::prelu", "weight", weight)}}));
  }
  const ir::NodeId above = call.emit("aten::clamp_min", {{"self", call.ref(0)}, {"min", 0}});
  const ir::NodeId below = call.emit("aten::clamp_max", {{"self", call.ref(0)}, {"max", 0}});
  call.result(
      combined(call, "aten::add", above, ref(combined(call, "aten::mul", below, call.ref(1)))));
}

}  // namespace

void broadcast(Call& call, std::string_view aten, bool commutes) {
  const auto is_number = [&](const ir::Value& operand) {
    return !operand.is_node() || !call.info(operand.node()).is_tensor();
  };
  const ir::Value other = call.scalar_or_ref(1, call.rank(0));
  if (commutes && !is_number(other))
    if (const ir::Value left = call.scalar_or_ref(0, call.rank(1)); is_number(left))
      return call.result(combined(call, aten, other.node(), left));
  call.result(combined(call, aten, call.tensor(0), other));
}

std::vector<Row> broadcast_rows() {
  return {
      {"Mul", 7,
       [](Call& call) {
         if (!activation_of_product(call)) broadcast(call, "aten::mul", true);
       },
       host_binary("Mul")},
      binary("Sub", "aten::sub"),
      {"Div", 7, divide, host_binary("Div")},
      {"Mod", 10, modulo, host_modulo},
      {"Pow", 7, raise_to, host_binary("Pow")},
      {"BitShift", 11, shift},
      variadic("Max", "aten::maximum", host_binary("Max")),
      variadic("Min", "aten::minimum", host_binary("Min")),
      variadic("Sum", "aten::add.Tensor"),
      {"Mean", 6, mean},
      binary("Equal", "aten::eq"),
      binary("Less", "aten::lt"),
      binary("LessOrEqual", "aten::le"),
      binary("Greater", "aten::gt"),
      binary("GreaterOrEqual", "aten::ge"),
      of_tensors("And", "aten::logical_and", host_binary("And")),
      of_tensors("Or", "aten::logical_or", host_binary("Or")),
      of_tensors("Xor", "aten::ne.Tensor", host_binary("Xor")),
      of_bits("BitwiseAnd", "aten::bitwise_and"),
      of_bits("BitwiseOr", "aten::bitwise_or"),
      of_bits("BitwiseXor", "aten::bitwise_xor"),
      {"Clip", 6, clip},
      {"Where", 9, where, host_where},
      {"PRelu", 7, prelu},
  };
}

}  // namespace mase::onnx
