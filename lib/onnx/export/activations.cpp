// SPDX-License-Identifier: Apache-2.0
// Rows of functions of one tensor's elements, and of softmax.
#include <cmath>

#include "onnx/export/rows.hpp"

namespace mase::onnx {
namespace {

/// Both write an operator by the same name of ONNX.
ExportRow same(std::string_view op, std::string_view name) {
  return {op, [name](NodeWriter& node) {
            node.finish(name, {node.operand("self", node.result_dtype())});
          }};
}

/// With one number, which is an attribute.
ExportRow with_number(std::string_view op, std::string_view name, std::string_view argument,
                      double otherwise, std::string_view key) {
  return {op, [=](NodeWriter& node) {
            node.finish(name, {node.tensor("self")},
                        {attribute(std::string(key), node.number(argument, otherwise))});
          }};
}

/// Limits a tensor to constants.
void clip(NodeWriter& node, double least, double most) {
  const DType dtype = node.result_dtype();
  node.finish("Clip", {node.tensor("self"), node.scalar(least, dtype), node.scalar(most, dtype)});
}

void elu(NodeWriter& node) {
  if (node.number("scale", 1) != 1 || node.number("input_scale", 1) != 1)
    node.refuse("Elu of ONNX has no scale");
  node.finish("Elu", {node.tensor("self")}, {attribute("alpha", node.number("alpha", 1))});
}

/// log(1 + exp(beta x)) / beta, and x where beta x is above the threshold.
void softplus(NodeWriter& node) {
  const double beta = node.number("beta", 1), threshold = node.number("threshold", 20);
  const DType dtype = node.result_dtype();
  const std::string x = node.tensor("self");
  // From here on log(1 + exp(y)) is y in float32.
  constexpr double same_in_float32 = 16;
  const bool plain = threshold >= same_in_float32;
  if (beta == 1 && plain) return node.finish("Softplus", {x});
  const std::string scaled = beta == 1 ? x : node.write("Mul", {x, node.scalar(beta, dtype)});
  const Names quotient{node.write("Softplus", {scaled}), node.scalar(beta, dtype)};
  if (plain) return node.finish("Div", quotient);
  const std::string above = node.write("Greater", {scaled, node.scalar(threshold, dtype)});
  node.finish("Where", {above, x, node.write("Div", quotient)});
}

void log_sigmoid(NodeWriter& node) {
  const std::string opposite = node.write("Neg", {node.tensor("self")});
  node.finish("Neg", {node.write("Softplus", {opposite})});
}

void gelu(NodeWriter& node) {
  node.finish("Gelu", {node.tensor("self")},
              {attribute("approximate", node.text("approximate", "none"))});
}

/// Infinity of one sign; `other` is what tells the operator to leave out the other sign.
void is_infinite(NodeWriter& node, std::string other) {
  node.finish("IsInf", {node.tensor("self")}, {attribute(std::move(other), std::int64_t{0})});
}

void threshold(NodeWriter& node) {
  const DType dtype = node.result_dtype();
  const std::string x = node.tensor("self");
  const std::string above = node.write("Greater", {x, node.operand("threshold", dtype)});
  node.finish("Where", {above, x, node.operand("value", dtype)});
}

void hard_sigmoid(NodeWriter& node) {
  constexpr double slope = 1.0 / 6, middle = 0.5;
  node.finish("HardSigmoid", {node.tensor("self")},
              {attribute("alpha", slope), attribute("beta", middle)});
}

void shrink(NodeWriter& node, bool towards_zero) {
  constexpr double lambda = 0.5;
  const double bound = node.number("lambd", lambda);
  node.finish("Shrink", {node.tensor("self")},
              {attribute("lambd", bound), attribute("bias", towards_zero ? bound : 0.0)});
}

/// The slopes are along dimension 1, and broadcast from the last one in ONNX.
void prelu(NodeWriter& node) {
  const std::int64_t rank = node.rank("self");
  std::string slopes = node.tensor("weight");
  if (rank > 2) {
    Integers axes;
    for (std::int64_t i = 1; i < rank - 1; ++i) axes.push_back(i);
    slopes = node.unsqueezed(slopes, axes);
  }
  node.finish("PRelu", {node.tensor("self"), slopes});
}

/// Comparisons and a sum.
void multi_threshold(NodeWriter& node) {
  const DType dtype = node.result_dtype();
  const std::string reached = node.write(
      "GreaterOrEqual", {node.unsqueezed(node.tensor("self"), {-1}), node.tensor("thresholds")});
  const std::string count =
      node.write("ReduceSum", {node.cast(reached, DType::boolean, dtype), node.ints({-1})},
                 {attribute("keepdims", std::int64_t{0})});
  const std::string scaled =
      node.write("Mul", {count, node.scalar(node.number("out_scale", 1), dtype)});
  node.finish("Add", {scaled, node.scalar(node.number("out_bias", 0), dtype)});
}

ExportRow softmax(std::string_view op, std::string_view name) {
  return {op, [name](NodeWriter& node) {
            node.finish(name, {node.operand("self", node.result_dtype())},
                        {attribute("axis", node.integer("dim", -1))});
          }};
}

void logical_not(NodeWriter& node) { node.finish("Not", {node.operand("self", DType::boolean)}); }

void bitwise_not(NodeWriter& node) {
  const bool truth = node.result_dtype() == DType::boolean;
  node.finish(truth ? "Not" : "BitwiseNot", {node.tensor("self")});
}

}  // namespace

std::vector<ExportRow> exported_activations() {
  return {
      same("aten::relu", "Relu"),
      same("aten::sigmoid", "Sigmoid"),
      same("aten::tanh", "Tanh"),
      same("aten::sqrt", "Sqrt"),
      same("aten::exp", "Exp"),
      same("aten::log", "Log"),
      same("aten::erf", "Erf"),
      same("aten::abs", "Abs"),
      same("aten::neg", "Neg"),
      same("aten::reciprocal", "Reciprocal"),
      same("aten::floor", "Floor"),
      same("aten::ceil", "Ceil"),
      same("aten::round", "Round"),
      same("aten::sign", "Sign"),
      same("aten::sin", "Sin"),
      same("aten::cos", "Cos"),
      same("aten::tan", "Tan"),
      same("aten::sinh", "Sinh"),
      same("aten::cosh", "Cosh"),
      same("aten::asin", "Asin"),
      same("aten::acos", "Acos"),
      same("aten::atan", "Atan"),
      same("aten::asinh", "Asinh"),
      same("aten::acosh", "Acosh"),
      same("aten::atanh", "Atanh"),
      {"aten::isnan", [](NodeWriter& node) { node.finish("IsNaN", {node.tensor("self")}); }},
      {"aten::isinf", [](NodeWriter& node) { node.finish("IsInf", {node.tensor("self")}); }},
      {"aten::linalg_det", [](NodeWriter& node) { node.finish("Det", {node.tensor("A")}); }},
      same("aten::mish", "Mish"),
      same("aten::hardswish", "HardSwish"),
      same("aten::selu", "Selu"),
      same("aten::softsign", "Softsign"),
      same("mase::softsign", "Softsign"),
      with_number("aten::leaky_relu", "LeakyRelu", "negative_slope", 0.01, "alpha"),
      with_number("aten::celu", "Celu", "alpha", 1.0, "alpha"),
      {"aten::elu", elu},
      {"aten::softplus", softplus},
      {"aten::log_sigmoid", log_sigmoid},
      {"aten::gelu", gelu},
      {"aten::hardsigmoid", hard_sigmoid},
      {"aten::hardshrink", [](NodeWriter& node) { shrink(node, false); }},
      {"aten::softshrink", [](NodeWriter& node) { shrink(node, true); }},
      {"aten::relu6", [](NodeWriter& node) { clip(node, 0, 6); }},
      {"aten::hardtanh",
       [](NodeWriter& node) { clip(node, node.number("min_val", -1), node.number("max_val", 1)); }},
      {"aten::silu",
       [](NodeWriter& node) {
         const std::string x = node.tensor("self");
         node.finish("Mul", {x, node.write("Sigmoid", {x})});
       }},
      {"aten::rsqrt",
       [](NodeWriter& node) {
         const std::string root = node.write("Sqrt", {node.operand("self", node.result_dtype())});
         node.finish("Reciprocal", {root});
       }},
      {"aten::square",
       [](NodeWriter& node) {
         const std::string x = node.tensor("self");
         node.finish("Mul", {x, x});
       }},
      {"aten::isposinf", [](NodeWriter& node) { is_infinite(node, "detect_negative"); }},
      {"aten::isneginf", [](NodeWriter& node) { is_infinite(node, "detect_positive"); }},
      {"aten::threshold", threshold},
      {"aten::prelu", prelu},
      {"mase::multi_threshold", multi_threshold},
      {"aten::logical_not", logical_not},
      {"aten::bitwise_not", bitwise_not},
      softmax("aten::softmax", "Softmax"),
      softmax("aten::log_softmax", "LogSoftmax"),
  };
}

}  // namespace mase::onnx
