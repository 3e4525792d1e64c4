// SPDX-License-Identifier: Apache-2.0
// Rows of operators of elements: functions of one tensor, and of several that broadcast.
#include "onnx/import/host.hpp"
#include "onnx/import/rows.hpp"

namespace mase::onnx {
namespace {

/// A function of one tensor without attributes.
Row unary(std::string_view op, std::string_view aten) {
  return {op, 1, [aten](Call& call) {
            call.result(call.layer(aten, {{"self", call.ref(0)}}, TensorPaths{}));
          }};
}

/// A function of one tensor and a number, which is an attribute.
Row with_number(std::string_view op, std::string_view aten, std::string_view attribute,
                double otherwise, std::string_view argument) {
  return {op, 1, [=](Call& call) {
            call.result(call.layer(
                aten,
                {{"self", call.ref(0)}, {std::string(argument), call.number(attribute, otherwise)}},
                TensorPaths{}));
          }};
}

std::string overload(std::string_view aten, const ir::Value& other) {
  return std::string(aten) + (other.is_node() ? ".Tensor" : ".Scalar");
}

Row binary(std::string_view op, std::string_view aten, bool commutes = false) {
  return {op, 7, [=](Call& call) { broadcast(call, aten, commutes); }, host_binary(op)};
}

/// An operator of any number of tensors, two by two.
Row variadic(std::string_view op, std::string_view aten) {
  return {op, 1,
          [aten](Call& call) {
            ir::NodeId result = call.tensor(0);
            for (std::size_t i = 1; i < call.count(); ++i)
              result = call.emit(aten, {{"self", ref(result)}, {"other", call.ref(i)}});
            call.result(result);
          },
          host_binary(op)};
}

}  // namespace

void broadcast(Call& call, std::string_view aten, bool commutes) {
  ir::Value other = call.scalar_or_ref(1);
  if (commutes && other.is_node())
    if (ir::Value left = call.scalar_or_ref(0); !left.is_node())
      return call.result(call.emit(overload(aten, left), {{"self", other}, {"other", left}}));
  call.result(call.emit(overload(aten, other), {{"self", call.ref(0)}, {"other", other}}));
}

std::vector<Row> elementwise_rows() {
  return {
      unary("Relu", "aten::relu"),
      unary("Sigmoid", "aten::sigmoid"),
      unary("Tanh", "aten::tanh"),
      unary("Sqrt", "aten::sqrt"),
      unary("Exp", "aten::exp"),
      unary("Log", "aten::log"),
      unary("Erf", "aten::erf"),
      unary("Abs", "aten::abs"),
      unary("Neg", "aten::neg"),
      unary("Reciprocal", "aten::reciprocal"),
      unary("Floor", "aten::floor"),
      unary("Ceil", "aten::ceil"),
      unary("Round", "aten::round"),
      unary("Sign", "aten::sign"),
      unary("Sin", "aten::sin"),
      unary("Cos", "aten::cos"),
      unary("Softsign", "aten::softsign"),
      unary("HardSwish", "aten::hardswish"),
      with_number("LeakyRelu", "aten::leaky_relu", "alpha", 0.01, "negative_slope"),
      with_number("Elu", "aten::elu", "alpha", 1.0, "alpha"),
      {"Gelu", 20,
       [](Call& call) {
         call.result(
             call.layer("aten::gelu",
                        {{"self", call.ref(0)}, {"approximate", call.text("approximate", "none")}},
                        TensorPaths{}));
       }},
      binary("Mul", "aten::mul", true),
      binary("Sub", "aten::sub"),
      binary("Div", "aten::div"),
      variadic("Max", "aten::maximum"),
      variadic("Min", "aten::minimum"),
      {"Softmax", 13,
       [](Call& call) {
         call.result(call.layer("aten::softmax.int",
                                {{"self", call.ref(0)}, {"dim", call.integer("axis", -1)}},
                                TensorPaths{}));
       }},
  };
}

}  // namespace mase::onnx
