// SPDX-License-Identifier: Apache-2.0
// Rows of functions of the elements of one tensor: activations, trigonometry, tests.
#include "onnx/import/host.hpp"
#include "onnx/import/rows.hpp"
#include "onnx/import/steps.hpp"

namespace mase::onnx {
namespace {

/// A function of one tensor without attributes.
Row unary(std::string_view op, std::string_view aten) {
  return {op, 1, [aten](Call& call) {
            call.result(call.layer(aten, {{"self", call.ref(0)}}, TensorPaths{}));
          }};
}

/// The same, which is also computed for sizes and constants.
Row unary_on_host(std::string_view op, std::string_view aten) {
  Row row = unary(op, aten);
  row.host = host_unary(op);
  return row;
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

ir::NodeId activation(Call& call, std::string_view aten, std::vector<ir::Argument> settings = {}) {
  settings.insert(settings.begin(), {"self", call.ref(0)});
  return call.layer(aten, std::move(settings), TensorPaths{});
}

bool same_float(double a, double b) { return static_cast<float>(a) == static_cast<float>(b); }

void selu(Call& call) {
  constexpr double torch_alpha = 1.67326319217681884765625, torch_scale = 1.05070102214813232421875;
  const double alpha = call.number("alpha", torch_alpha), gamma = call.number("gamma", torch_scale);
  if (same_float(alpha, torch_alpha) && same_float(gamma, torch_scale))
    return call.result(activation(call, "aten::selu"));
  call.result(call.emit("aten::elu", {{"self", call.ref(0)}, {"alpha", alpha}, {"scale", gamma}}));
}

void hard_sigmoid(Call& call) {
  const double alpha = call.number("alpha", 0.2), beta = call.number("beta", 0.5);
  if (same_float(alpha, 1.0 / 6.0) && beta == 0.5)
    return call.result(activation(call, "aten::hardsigmoid"));
  const ir::NodeId line =
      combined(call, "aten::add", combined(call, "aten::mul", call.tensor(0), alpha), beta);
  call.result(
      call.emit("aten::hardtanh", {{"self", ref(line)}, {"min_val", 0.0}, {"max_val", 1.0}}));
}

void swish(Call& call) {
  const double alpha = call.number("alpha", 1);
  if (alpha == 1) return call.result(activation(call, "aten::silu"));
  const ir::NodeId gate =
      applied(call, "aten::sigmoid", combined(call, "aten::mul", call.tensor(0), alpha));
  call.result(combined(call, "aten::mul", call.tensor(0), ref(gate)));
}

/// A gate, swished, times a tensor.
void swiglu(Call& call) {
  const double alpha = call.number("alpha", 1);
  const ir::NodeId gate = call.tensor(0);
  ir::NodeId swished = ir::no_node;
  if (alpha == 1)
    swished = applied(call, "aten::silu", gate);
  else
    swished =
        combined(call, "aten::mul", gate,
                 ref(applied(call, "aten::sigmoid", combined(call, "aten::mul", gate, alpha))));
  call.result(combined(call, "aten::mul", swished, call.ref(1)));
}

/// Zero between -lambd and lambd; other values move by the bias towards zero.
void shrink(Call& call) {
  const double lambd = call.number("lambd", 0.5), bias = call.number("bias", 0);
  if (lambd < 0) call.refuse("its lambd is negative");
  const DType dtype = call.dtype(0);
  if (is_floating(dtype) && bias == lambd && bias != 0)
    return call.result(activation(call, "aten::softshrink", {{"lambd", lambd}}));
  ir::NodeId input = call.tensor(0);
  if (!is_floating(dtype)) input = converted(call, input, DType::float32);
  ir::NodeId kept = call.emit("aten::hardshrink", {{"self", ref(input)}, {"lambd", lambd}});
  if (bias != 0) {
    const ir::NodeId sign = applied(call, "aten::sign", kept);
    kept = combined(call, "aten::sub", kept, ref(combined(call, "aten::mul", sign, bias)));
  }
  call.result(converted(call, kept, dtype));
}

void is_infinite(Call& call) {
  const bool negative = call.integer("detect_negative", 1) != 0;
  const bool positive = call.integer("detect_positive", 1) != 0;
  if (!negative && !positive)
    return call.result(call.emit("aten::zeros_like",
                                 {{"self", call.ref(0)}, {"dtype", number_of(DType::boolean)}}));
  const std::string_view aten = negative && positive ? "aten::isinf"
                                : negative           ? "aten::isneginf"
                                                     : "aten::isposinf";
  call.result(applied(call, aten, call.tensor(0)));
}

void gelu(Call& call) {
  call.result(activation(call, "aten::gelu", {{"approximate", call.text("approximate", "none")}}));
}

/// Values up to alpha become zero.
void thresholded_relu(Call& call) {
  call.result(
      call.emit("aten::threshold",
                {{"self", call.ref(0)}, {"threshold", call.number("alpha", 1)}, {"value", 0.0}}));
}

}  // namespace

std::vector<Row> elementwise_rows() {
  return {
      unary("Relu", "aten::relu"),
      unary("Sigmoid", "aten::sigmoid"),
      unary("Tanh", "aten::tanh"),
      unary_on_host("Sqrt", "aten::sqrt"),
      unary_on_host("Exp", "aten::exp"),
      unary_on_host("Log", "aten::log"),
      unary("Erf", "aten::erf"),
      unary_on_host("Abs", "aten::abs"),
      unary_on_host("Neg", "aten::neg"),
      unary("Reciprocal", "aten::reciprocal"),
      unary_on_host("Floor", "aten::floor"),
      unary_on_host("Ceil", "aten::ceil"),
      unary_on_host("Round", "aten::round"),
      unary_on_host("Not", "aten::logical_not"),
      unary("BitwiseNot", "aten::bitwise_not"),
      unary("Sign", "aten::sign"),
      unary("Sin", "aten::sin"),
      unary("Cos", "aten::cos"),
      unary("Tan", "aten::tan"),
      unary("Asin", "aten::asin"),
      unary("Acos", "aten::acos"),
      unary("Atan", "aten::atan"),
      unary("Sinh", "aten::sinh"),
      unary("Cosh", "aten::cosh"),
      unary("Asinh", "aten::asinh"),
      unary("Acosh", "aten::acosh"),
      unary("Atanh", "aten::atanh"),
      unary("Softplus", "aten::softplus"),
      unary("Softsign", "mase::softsign"),
      unary("HardSwish", "aten::hardswish"),
      unary("Mish", "aten::mish"),
      unary("IsNaN", "aten::isnan"),
      with_number("LeakyRelu", "aten::leaky_relu", "alpha", 0.01, "negative_slope"),
      with_number("Elu", "aten::elu", "alpha", 1.0, "alpha"),
      with_number("Celu", "aten::celu", "alpha", 1.0, "alpha"),
      {"ThresholdedRelu", 10, thresholded_relu},
      {"Selu", 1, selu},
      {"HardSigmoid", 1, hard_sigmoid},
      {"Swish", 24, swish},
      {"SwiGLU", 28, swiglu},
      {"Shrink", 9, shrink},
      {"IsInf", 10, is_infinite},
      {"Gelu", 20, gelu},
  };
}

}  // namespace mase::onnx
