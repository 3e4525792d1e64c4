// SPDX-License-Identifier: Apache-2.0
// Rows of operators of two tensors or numbers that broadcast. Those of integers on the host are the
// same operators of ONNX on tensors without dimensions.
#include <algorithm>

#include "onnx/export/rows.hpp"

namespace mase::onnx {
namespace {

/// The names of an operator's two operands: "self" and "other" of tensors, "a" and "b" of numbers.
struct Operands {
  std::string_view left, right;
};

Operands names_of(const NodeWriter& node) {
  if (node.has("a")) return {"a", "b"};
  return {"self", node.has("exponent") ? "exponent" : "other"};
}

bool is_tensor_node(const NodeWriter& node, std::string_view argument) {
  const ir::Value* value = node.find(argument);
  return !value || (value->is_node() && node.graph().node(value->node()).info.is_tensor());
}

/// The type in which two operands are compared: that of the tensor, unless the number is real.
DType common_dtype(const NodeWriter& node, const Operands& names) {
  const DType left = node.dtype(names.left), right = node.dtype(names.right);
  const bool both = is_tensor_node(node, names.left) == is_tensor_node(node, names.right);
  if (left == right) return left;
  if (both) return is_floating(left) || right == DType::boolean ? left : right;
  const DType tensor = is_tensor_node(node, names.left) ? left : right;
  const DType number = is_tensor_node(node, names.left) ? right : left;
  return is_floating(number) && !is_floating(tensor) ? DType::float32 : tensor;
}

/// In the type of the result.
ExportRow binary(std::string_view op, std::string_view name) {
  return {op, [name](NodeWriter& node) {
            const auto [left, right] = names_of(node);
            const DType dtype = node.result_dtype();
            node.finish(name, {node.operand(left, dtype), node.operand(right, dtype)});
          }};
}

/// x + alpha y, x - alpha y, or the reversed y - alpha x.
void sum(NodeWriter& node, std::string_view name, bool reversed) {
  const Operands names = names_of(node);
  const DType dtype = node.result_dtype();
  const std::string a = node.operand(reversed ? names.right : names.left, dtype);
  std::string b = node.operand(reversed ? names.left : names.right, dtype);
  if (const double alpha = node.number("alpha", 1); alpha != 1)
    b = node.write("Mul", {b, node.scalar(alpha, dtype)});
  node.finish(name, {a, b});
}

/// A quotient of integers that is rounded down; Div of ONNX rounds towards zero.
void floor_of_integers(NodeWriter& node, const Operands& names, DType dtype) {
  const std::string a = node.operand(names.left, dtype), b = node.operand(names.right, dtype);
  // a - (a mod b) is a multiple of b, where mod has the sign of b.
  const std::string rest = node.write("Mod", {a, b});
  node.finish("Div", {node.write("Sub", {a, rest}), b});
}

void rounded_quotient(NodeWriter& node, bool down) {
  const Operands names = names_of(node);
  const DType dtype = node.result_dtype();
  if (!is_floating(dtype) && down) return floor_of_integers(node, names, dtype);
  const Names operands{node.operand(names.left, dtype), node.operand(names.right, dtype)};
  if (!is_floating(dtype)) return node.finish("Div", operands);
  const std::string quotient = node.write("Div", operands);
  if (down) return node.finish("Floor", {quotient});
  const std::string size = node.write("Floor", {node.write("Abs", {quotient})});
  node.finish("Mul", {node.write("Sign", {quotient}), size});
}

void divide(NodeWriter& node) {
  const std::string rounding = node.text("rounding_mode", "");
  if (!rounding.empty()) return rounded_quotient(node, rounding == "floor");
  const auto [left, right] = names_of(node);
  const DType dtype = node.result_dtype();
  node.finish("Div", {node.operand(left, dtype), node.operand(right, dtype)});
}

/// The remainder has the sign of the divisor, which Mod of ONNX knows for integers alone.
void remainder(NodeWriter& node) {
  const auto [left, right] = names_of(node);
  const DType dtype = node.result_dtype();
  const std::string a = node.operand(left, dtype), b = node.operand(right, dtype);
  if (!is_floating(dtype)) return node.finish("Mod", {a, b});
  // The remainder of C has the sign of a, and gets that of b.
  const std::string rest = node.write("Mod", {a, b}, {attribute("fmod", std::int64_t{1})});
  const std::string signs =
      node.write("Mul", {node.write("Sign", {rest}), node.write("Sign", {b})});
  const std::string differ = node.write("Less", {signs, node.scalar(0, dtype)});
  node.finish("Where", {differ, node.write("Add", {rest, b}), rest});
}

ExportRow comparison(std::string_view op, std::string_view name) {
  return {op, [name](NodeWriter& node) {
            const Operands names = names_of(node);
            const DType dtype = common_dtype(node, names);
            const Names operands{node.operand(names.left, dtype), node.operand(names.right, dtype)};
            if (name != "NotEqual") return node.finish(name, operands);
            node.finish("Not", {node.write("Equal", operands)});
          }};
}

ExportRow logical(std::string_view op, std::string_view name) {
  return {op, [name](NodeWriter& node) {
            node.finish(name, {node.operand("self", DType::boolean),
                               node.operand("other", DType::boolean)});
          }};
}

/// A logical operator for truth values, and one of bits for integers.
ExportRow bitwise(std::string_view op, std::string_view logical, std::string_view name) {
  return {op, [=](NodeWriter& node) {
            const DType dtype = node.result_dtype();
            node.finish(dtype == DType::boolean ? logical : name,
                        {node.operand("self", dtype), node.operand("other", dtype)});
          }};
}

/// self + value * tensor1 * tensor2, or tensor1 / tensor2
void added_quotient(NodeWriter& node, std::string_view op) {
  const DType dtype = node.result_dtype();
  const std::string both =
      node.write(op, {node.operand("tensor1", dtype), node.operand("tensor2", dtype)});
  const std::string scaled = node.write("Mul", {both, node.scalar(node.number("value", 1), dtype)});
  node.finish("Add", {node.operand("self", dtype), scaled});
}

/// self + weight * (end - self)
void lerp(NodeWriter& node) {
  const DType dtype = node.result_dtype();
  const std::string x = node.operand("self", dtype);
  const std::string way = node.write("Sub", {node.operand("end", dtype), x});
  node.finish("Add", {x, node.write("Mul", {way, node.operand("weight", dtype)})});
}

void where(NodeWriter& node) {
  const DType dtype = node.result_dtype();
  node.finish("Where", {node.operand("condition", DType::boolean), node.operand("self", dtype),
                        node.operand("other", dtype)});
}

void masked_fill(NodeWriter& node) {
  const DType dtype = node.result_dtype();
  node.finish("Where", {node.operand("mask", DType::boolean), node.operand("value", dtype),
                        node.operand("self", dtype)});
}

/// Bounds that are tensors broadcast; those that are numbers do not.
void clamp(NodeWriter& node) {
  const DType dtype = node.result_dtype();
  const bool numbers = !(node.has("min") && is_tensor_node(node, "min")) &&
                       !(node.has("max") && is_tensor_node(node, "max"));
  std::string x = node.operand("self", dtype);
  if (numbers)
    return node.finish("Clip", {x, node.has("min") ? node.operand("min", dtype) : "",
                                node.has("max") ? node.operand("max", dtype) : ""});
  if (node.has("min") && node.has("max")) x = node.write("Max", {x, node.operand("min", dtype)});
  const bool upper = node.has("max");
  node.finish(upper ? "Min" : "Max", {x, node.operand(upper ? "max" : "min", dtype)});
}

}  // namespace

std::vector<ExportRow> exported_arithmetic() {
  return {
      {"aten::add", [](NodeWriter& node) { sum(node, "Add", false); }},
      {"aten::sub", [](NodeWriter& node) { sum(node, "Sub", false); }},
      {"aten::rsub", [](NodeWriter& node) { sum(node, "Sub", true); }},
      binary("aten::mul", "Mul"),
      {"aten::div", divide},
      {"aten::floordiv", [](NodeWriter& node) { rounded_quotient(node, true); }},
      {"aten::floor_divide", [](NodeWriter& node) { rounded_quotient(node, true); }},
      {"aten::remainder", remainder},
      {"aten::fmod",
       [](NodeWriter& node) {
         const DType dtype = node.result_dtype();
         node.finish("Mod", {node.operand("self", dtype), node.operand("other", dtype)},
                     {attribute("fmod", std::int64_t{1})});
       }},
      {"aten::addcmul", [](NodeWriter& node) { added_quotient(node, "Mul"); }},
      {"aten::addcdiv", [](NodeWriter& node) { added_quotient(node, "Div"); }},
      {"aten::lerp", lerp},
      binary("aten::pow", "Pow"),
      binary("aten::maximum", "Max"),
      binary("aten::minimum", "Min"),
      comparison("aten::gt", "Greater"),
      comparison("aten::greater", "Greater"),
      comparison("aten::ge", "GreaterOrEqual"),
      comparison("aten::lt", "Less"),
      comparison("aten::less", "Less"),
      comparison("aten::le", "LessOrEqual"),
      comparison("aten::less_equal", "LessOrEqual"),
      comparison("aten::eq", "Equal"),
      comparison("aten::ne", "NotEqual"),
      logical("aten::logical_and", "And"),
      logical("aten::logical_or", "Or"),
      bitwise("aten::bitwise_and", "And", "BitwiseAnd"),
      bitwise("aten::__and__", "And", "BitwiseAnd"),
      bitwise("aten::bitwise_or", "Or", "BitwiseOr"),
      bitwise("aten::__or__", "Or", "BitwiseOr"),
      bitwise("aten::bitwise_xor", "Xor", "BitwiseXor"),
      bitwise("aten::__xor__", "Xor", "BitwiseXor"),
      logical("aten::logical_xor", "Xor"),
      {"aten::where", where},
      {"aten::masked_fill", masked_fill},
      {"aten::clamp", clamp},
      {"aten::clamp_min", clamp},
      {"aten::clamp_max", clamp},
  };
}

}  // namespace mase::onnx
