// SPDX-License-Identifier: Apache-2.0
// Op rows of arithmetic: products, elementwise operators, comparisons and reductions.
#include "ir/op_rows.hpp"

namespace mase::ir {

using enum MaseType;

namespace {

const std::vector<ArgRow> unary{{"self", "data_in"}};
// One operand may be a thousand times the other, so each has a format of its own.
const ArgRow second{.name = "other", .port = "data_in_1", .general = "data_in"};
// "a" and "b" are the operands of the operators on Python numbers (aten::add.int).
const std::vector<ArgRow> binary{{"self", "data_in"}, second, {"a", ""}, {"b", ""}};
const std::vector<ArgRow> scaled{{"self", "data_in"}, second, {"alpha", ""}, {"a", ""}, {"b", ""}};
const std::vector<ArgRow> quotient{
    {"self", "data_in"}, second, {"rounding_mode", ""}, {"a", ""}, {"b", ""}};
const std::vector<ArgRow> along_dims{
    {"self", "data_in"}, {"dim", ""}, {"keepdim", ""}, {"dtype", ""}};
const std::vector<ArgRow> extremum{
    {"self", "data_in"}, {"other", "data_in"}, {"dim", ""}, {"keepdim", ""}};
const std::vector<ArgRow> deviation = self_and({"dim", "unbiased", "correction", "keepdim"});

OpRow unary_function(std::string_view name, CallRow call, std::string_view doc,
                     bool quantizable = true) {
  return {.name = name,
          .family = OpFamily::unary,
          .type = builtin_func,
          .calls = {std::move(call)},
          .args = unary,
          .quantizable = quantizable,
          .doc = doc};
}

OpRow comparison(std::string_view name, MaseType type, CallRow call, std::string_view doc) {
  return {.name = name,
          .family = OpFamily::elementwise,
          .type = type,
          .calls = {std::move(call)},
          .args = binary,
          .doc = doc};
}

OpRow reduction(std::string_view name, std::vector<CallRow> calls, std::vector<ArgRow> args,
                std::string_view doc, bool quantizable = false) {
  return {.name = name,
          .family = OpFamily::reduction,
          .type = builtin_func,
          .calls = std::move(calls),
          .args = std::move(args),
          .quantizable = quantizable,
          .doc = doc};
}

std::vector<OpRow> operators() {
  return {
      {.name = "add",
       .family = OpFamily::elementwise,
       .type = builtin_func,
       .calls = {function("aten::add", "_operator.add")},
       .args = scaled,
       .quantizable = true,
       .doc = "Elementwise sum."},
      {.name = "sub",
       .family = OpFamily::elementwise,
       .type = builtin_func,
       .calls = {function("aten::sub", "_operator.sub"), function("aten::rsub", "_operator.sub")},
       .args = scaled,
       .quantizable = true,
       .doc = "Elementwise difference."},
      {.name = "mul",
       .family = OpFamily::elementwise,
       .type = builtin_func,
       .calls = {function("aten::mul", "_operator.mul")},
       .args = binary,
       .quantizable = true,
       .doc = "Elementwise product."},
      {.name = "div",
       .family = OpFamily::elementwise,
       .type = builtin_func,
       .calls = {function("aten::div", "_operator.truediv")},
       .args = quotient,
       .quantizable = true,
       .doc = "Elementwise quotient."},
      {.name = "floordiv",
       .family = OpFamily::elementwise,
       .type = builtin_func,
       .calls = {function("aten::floordiv", "_operator.floordiv"),
                 function("aten::floor_divide", "_operator.floordiv")},
       .args = binary,
       .doc = "Quotient rounded down."},
      {.name = "mod",
       .family = OpFamily::elementwise,
       .type = builtin_func,
       .calls = {function("aten::remainder", "_operator.mod")},
       .args = binary,
       .doc = "Remainder with the divisor's sign."},
  };
}

std::vector<OpRow> products() {
  return {
      {.name = "matmul",
       .family = OpFamily::matrix_product,
       .type = builtin_func,
       .calls = {function("aten::matmul", "torch.matmul")},
       .args = {{"self", "data_in"}, {"other", "weight"}},
       .quantizable = true,
       .doc = "Matrix product, batched."},
      {.name = "bmm",
       .family = OpFamily::matrix_product,
       .type = builtin_func,
       .calls = {function("aten::bmm", "torch.bmm")},
       .args = {{"self", "data_in"}, {"mat2", "weight"}},
       .quantizable = true,
       .doc = "Matrix product of batches."},
      {.name = "mm",
       .family = OpFamily::matrix_product,
       .type = builtin_func,
       .calls = {function("aten::mm", "torch.mm")},
       .args = {{"self", "data_in"}, {"mat2", "weight"}},
       .quantizable = true,
       .doc = "Matrix product of two matrices."},
      {.name = "outer",
       .type = builtin_func,
       .calls = {function("aten::outer", "torch.outer")},
       .args = {{"self", "data_in"}, {.name = "vec2", .port = "data_in_1", .general = "data_in"}},
       .doc = "Every element of a vector times every one of another."},
      {.name = "addmm",
       .family = OpFamily::added_product,
       .type = builtin_func,
       .calls = {function("aten::addmm", "torch.addmm")},
       .args =
           {{"self", "bias"}, {"mat1", "data_in"}, {"mat2", "weight"}, {"beta", ""}, {"alpha", ""}},
       .quantizable = true,
       .doc = "Matrix product plus a matrix."},
      {.name = "baddbmm",
       .family = OpFamily::added_product,
       .type = builtin_func,
       .calls = {function("aten::baddbmm", "torch.baddbmm")},
       .args = {{"self", "bias"},
                {"batch1", "data_in"},
                {"batch2", "weight"},
                {"beta", ""},
                {"alpha", ""}},
       .quantizable = true,
       .doc = "Matrix product of batches plus a batch."},
      {.name = "einsum",
       .family = OpFamily::contraction,
       .type = builtin_func,
       .calls = {function("aten::einsum", "torch.functional.einsum")},
       .args = {{"equation", ""}, {"tensors", "data_in"}, {"path", ""}},
       .doc = "Sum of products by index letters; see expand_einsum.",
       .expanded_by = "expand_einsum"},
  };
}

std::vector<OpRow> functions() {
  return {
      {.name = "pow",
       .family = OpFamily::elementwise,
       .type = builtin_func,
       .calls = {function("aten::pow", "_operator.pow")},
       .args = {{"self", "data_in"}, {"exponent", ""}, {"a", ""}, {"b", ""}},
       .quantizable = true,
       .doc = "Elementwise power."},
      unary_function("sqrt", function("aten::sqrt", "torch.sqrt"), "Square root."),
      unary_function("rsqrt", function("aten::rsqrt", "torch.rsqrt"), "One over the square root."),
      unary_function("reciprocal", function("aten::reciprocal", "torch.reciprocal"), "One over x."),
      unary_function("square", function("aten::square", "torch.square"), "x * x."),
      unary_function("exp", function("aten::exp", "torch.exp"), "Exponential."),
      unary_function("log", function("aten::log", "torch.log"), "Natural logarithm."),
      unary_function("erf", function("aten::erf", "torch.erf"), "Error function."),
      unary_function("sin", function("aten::sin", "torch.sin"), "Sine."),
      unary_function("cos", function("aten::cos", "torch.cos"), "Cosine."),
      unary_function("tan", function("aten::tan", "torch.tan"), "Tangent."),
      unary_function("sinh", function("aten::sinh", "torch.sinh"), "Hyperbolic sine."),
      unary_function("cosh", function("aten::cosh", "torch.cosh"), "Hyperbolic cosine."),
      unary_function("floor", function("aten::floor", "torch.floor"), "Round down.", false),
      unary_function("ceil", function("aten::ceil", "torch.ceil"), "Round up.", false),
      unary_function("round", function("aten::round", "torch.round"), "Round half to even.", false),
      unary_function("sign", function("aten::sign", "torch.sign"), "-1, 0 or 1.", false),
      unary_function("neg", function("aten::neg", "_operator.neg"), "-x."),
      unary_function("not", function("aten::logical_not", "torch.logical_not"), "Logical not.",
                     false),
      unary_function("invert", function("aten::bitwise_not", "_operator.invert"), "Bitwise not.",
                     false),
      {.name = "abs",
       .family = OpFamily::unary,
       .type = implicit_func,
       .calls = {function("aten::abs", "_operator.abs")},
       .args = unary,
       .quantizable = true,
       .doc = "Absolute value."},
  };
}

std::vector<OpRow> comparisons() {
  return {
      comparison("greater", builtin_func, function("aten::greater", "torch.greater"), "x > y."),
      comparison("gt", builtin_func, function("aten::gt", "_operator.gt"), "x > y."),
      comparison("less", builtin_func, function("aten::less", "torch.less"), "x < y."),
      comparison("lt", builtin_func, function("aten::lt", "_operator.lt"), "x < y."),
      comparison("le", builtin_func, function("aten::le", "_operator.le"), "x <= y."),
      comparison("lessorequal", builtin_func, function("aten::less_equal", "torch.less_equal"),
                 "x <= y."),
      comparison("eq", implicit_func, function("aten::eq", "_operator.eq"), "x == y."),
      comparison("ne", implicit_func, function("aten::ne", "_operator.ne"), "x != y."),
      comparison("ge", implicit_func, function("aten::ge", "_operator.ge"), "x >= y."),
      comparison("and", builtin_func, function("aten::logical_and", "torch.logical_and"),
                 "Both true."),
      comparison("or", builtin_func, function("aten::logical_or", "torch.logical_or"),
                 "Either true."),
      {.name = "bitwise_and",
       .family = OpFamily::elementwise,
       .type = builtin_func,
       .calls = {function("aten::bitwise_and", "torch.bitwise_and"),
                 function("aten::__and__", "_operator.and_")},
       .args = binary,
       .doc = "Both bits; of truth values: both true."},
      {.name = "bitwise_or",
       .family = OpFamily::elementwise,
       .type = builtin_func,
       .calls = {function("aten::bitwise_or", "torch.bitwise_or"),
                 function("aten::__or__", "_operator.or_")},
       .args = binary,
       .doc = "Either bit; of truth values: either true."},
      {.name = "maximum",
       .family = OpFamily::elementwise,
       .type = builtin_func,
       .calls = {function("aten::maximum", "torch.maximum")},
       .args = binary,
       .quantizable = true,
       .doc = "The larger one."},
      {.name = "minimum",
       .family = OpFamily::elementwise,
       .type = builtin_func,
       .calls = {function("aten::minimum", "torch.minimum")},
       .args = binary,
       .quantizable = true,
       .doc = "The smaller one."},
  };
}

std::vector<OpRow> reductions() {
  return {
      reduction("mean", {method("aten::mean", "mean")}, along_dims, "Mean over dimensions.", true),
      reduction("sum", {method("aten::sum", "sum")}, along_dims, "Sum over dimensions.", true),
      reduction("prod", {method("aten::prod", "prod")}, along_dims, "Product over a dimension."),
      reduction("max", {method("aten::max", "max"), method("aten::amax", "amax")}, extremum,
                "Largest value."),
      reduction("min", {method("aten::min", "min"), method("aten::amin", "amin")}, extremum,
                "Smallest value."),
      {.name = "argmax",
       .family = OpFamily::arg_reduction,
       .type = builtin_func,
       .calls = {method("aten::argmax", "argmax")},
       .args = self_and({"dim", "keepdim"}),
       .doc = "Place of the largest value."},
      {.name = "argmin",
       .family = OpFamily::arg_reduction,
       .type = builtin_func,
       .calls = {method("aten::argmin", "argmin")},
       .args = self_and({"dim", "keepdim"}),
       .doc = "Place of the smallest value."},
      reduction("var", {method("aten::var", "var")}, deviation, "Variance over dimensions."),
      reduction("std", {method("aten::std", "std")}, deviation,
                "Standard deviation over dimensions."),
      {.name = "cumsum",
       .family = OpFamily::scan,
       .type = builtin_func,
       .calls = {method("aten::cumsum", "cumsum")},
       .args = self_and({"dim", "dtype"}),
       .doc = "Running sum."},
      {.name = "diff",
       .family = OpFamily::difference,
       .type = builtin_func,
       .calls = {function("aten::diff", "torch.diff")},
       .args = {{"self", "data_in"},
                {"n", ""},
                {"dim", ""},
                {"prepend", "data_in"},
                {"append", "data_in"}},
       .doc = "Differences of neighbours."},
  };
}

}  // namespace

std::vector<OpRow> arithmetic_rows() {
  std::vector<OpRow> rows;
  for (const auto& part : {operators(), products(), functions(), comparisons(), reductions()})
    rows.insert(rows.end(), part.begin(), part.end());
  return rows;
}

}  // namespace mase::ir
