// Op rows of arithmetic: products, elementwise operators, comparisons and reductions.
#include "ir/op_rows.hpp"

namespace mase::ir {

using enum MaseType;

namespace {

const std::vector<ArgRow> unary{{"self", "data_in"}};
// "a" and "b" are the operands of the operators on Python numbers (aten::add.int).
const std::vector<ArgRow> binary{{"self", "data_in"}, {"other", "data_in"}, {"a", ""}, {"b", ""}};
const std::vector<ArgRow> scaled{
    {"self", "data_in"}, {"other", "data_in"}, {"alpha", ""}, {"a", ""}, {"b", ""}};
const std::vector<ArgRow> reduction{
    {"self", "data_in"}, {"dim", ""}, {"keepdim", ""}, {"dtype", ""}};
const std::vector<ArgRow> extremum{
    {"self", "data_in"}, {"other", "data_in"}, {"dim", ""}, {"keepdim", ""}};

OpSource elementwise(std::string_view name, std::string_view aten, std::string_view target,
                     std::string_view doc, bool quantizable = true) {
  return {name, builtin_func, {function(aten, target)}, unary, quantizable, doc};
}

OpSource comparison(std::string_view name, MaseType type, std::string_view aten,
                    std::string_view target, std::string_view doc, bool quantizable = false) {
  return {name, type, {function(aten, target)}, binary, quantizable, doc};
}

std::vector<OpSource> products() {
  return {
      {"add",
       builtin_func,
       {function("aten::add", "_operator.add")},
       scaled,
       true,
       "Elementwise sum."},
      {"sub",
       builtin_func,
       {function("aten::sub", "_operator.sub"), function("aten::rsub", "_operator.sub")},
       scaled,
       true,
       "Elementwise difference."},
      {"mul",
       builtin_func,
       {function("aten::mul", "_operator.mul")},
       binary,
       true,
       "Elementwise product."},
      {"div",
       builtin_func,
       {function("aten::div", "_operator.truediv")},
       {{"self", "data_in"}, {"other", "data_in"}, {"rounding_mode", ""}, {"a", ""}, {"b", ""}},
       true,
       "Elementwise quotient."},
      {"floordiv",
       builtin_func,
       {function("aten::floordiv", "_operator.floordiv"),
        function("aten::floor_divide", "_operator.floordiv")},
       binary,
       false,
       "Quotient rounded down."},
      {"mod",
       builtin_func,
       {function("aten::remainder", "_operator.mod")},
       binary,
       false,
       "Remainder with the divisor's sign."},
      {"matmul",
       builtin_func,
       {function("aten::matmul", "torch.matmul")},
       {{"self", "data_in"}, {"other", "weight"}},
       true,
       "Matrix product, batched."},
      {"bmm",
       builtin_func,
       {function("aten::bmm", "torch.bmm")},
       {{"self", "data_in"}, {"mat2", "weight"}},
       true,
       "Matrix product of batches."},
      {"mm",
       builtin_func,
       {function("aten::mm", "torch.mm")},
       {{"self", "data_in"}, {"mat2", "weight"}},
       true,
       "Matrix product of two matrices."},
      {"addmm",
       builtin_func,
       {function("aten::addmm", "torch.addmm")},
       {{"self", "bias"}, {"mat1", "data_in"}, {"mat2", "weight"}, {"beta", ""}, {"alpha", ""}},
       false,
       "Matrix product plus a matrix."},
      {"baddbmm",
       builtin_func,
       {function("aten::baddbmm", "torch.baddbmm")},
       {{"self", "bias"}, {"batch1", "data_in"}, {"batch2", "weight"}, {"beta", ""}, {"alpha", ""}},
       false,
       "Matrix product of batches plus a batch."},
      {"einsum",
       builtin_func,
       {function("aten::einsum", "torch.functional.einsum")},
       {{"equation", ""}, {"tensors", "data_in"}, {"path", ""}},
       false,
       "Sum of products by index letters."},
      {"pow",
       builtin_func,
       {function("aten::pow", "_operator.pow")},
       {{"self", "data_in"}, {"exponent", ""}, {"a", ""}, {"b", ""}},
       true,
       "Elementwise power."},
  };
}

std::vector<OpSource> elementwise_rows() {
  return {
      elementwise("sqrt", "aten::sqrt", "torch.sqrt", "Square root."),
      elementwise("rsqrt", "aten::rsqrt", "torch.rsqrt", "One over the square root."),
      elementwise("reciprocal", "aten::reciprocal", "torch.reciprocal", "One over x."),
      elementwise("square", "aten::square", "torch.square", "x * x."),
      elementwise("exp", "aten::exp", "torch.exp", "Exponential."),
      elementwise("log", "aten::log", "torch.log", "Natural logarithm."),
      elementwise("erf", "aten::erf", "torch.erf", "Error function."),
      elementwise("sin", "aten::sin", "torch.sin", "Sine."),
      elementwise("cos", "aten::cos", "torch.cos", "Cosine."),
      elementwise("tan", "aten::tan", "torch.tan", "Tangent."),
      elementwise("sinh", "aten::sinh", "torch.sinh", "Hyperbolic sine."),
      elementwise("cosh", "aten::cosh", "torch.cosh", "Hyperbolic cosine."),
      elementwise("floor", "aten::floor", "torch.floor", "Round down.", false),
      elementwise("ceil", "aten::ceil", "torch.ceil", "Round up.", false),
      elementwise("round", "aten::round", "torch.round", "Round half to even.", false),
      elementwise("sign", "aten::sign", "torch.sign", "-1, 0 or 1.", false),
      elementwise("neg", "aten::neg", "_operator.neg", "-x."),
      elementwise("not", "aten::logical_not", "torch.logical_not", "Logical not.", false),
      elementwise("invert", "aten::bitwise_not", "_operator.invert", "Bitwise not.", false),
      {"abs",
       implicit_func,
       {function("aten::abs", "_operator.abs")},
       unary,
       true,
       "Absolute value."},
  };
}

std::vector<OpSource> comparisons() {
  return {
      comparison("greater", builtin_func, "aten::greater", "torch.greater", "x > y."),
      comparison("gt", builtin_func, "aten::gt", "_operator.gt", "x > y."),
      comparison("less", builtin_func, "aten::less", "torch.less", "x < y."),
      comparison("lt", builtin_func, "aten::lt", "_operator.lt", "x < y."),
      comparison("le", builtin_func, "aten::le", "_operator.le", "x <= y."),
      comparison("lessorequal", builtin_func, "aten::less_equal", "torch.less_equal", "x <= y."),
      comparison("eq", implicit_func, "aten::eq", "_operator.eq", "x == y."),
      comparison("ne", implicit_func, "aten::ne", "_operator.ne", "x != y."),
      comparison("ge", implicit_func, "aten::ge", "_operator.ge", "x >= y."),
      comparison("and", builtin_func, "aten::logical_and", "torch.logical_and", "Both true."),
      comparison("or", builtin_func, "aten::logical_or", "torch.logical_or", "Either true."),
      comparison("maximum", builtin_func, "aten::maximum", "torch.maximum", "The larger one.",
                 true),
      comparison("minimum", builtin_func, "aten::minimum", "torch.minimum", "The smaller one.",
                 true),
  };
}

std::vector<OpSource> reductions() {
  return {
      {"mean",
       builtin_func,
       {method("aten::mean", "mean")},
       reduction,
       true,
       "Mean over dimensions."},
      {"sum", builtin_func, {method("aten::sum", "sum")}, reduction, true, "Sum over dimensions."},
      {"prod",
       builtin_func,
       {method("aten::prod", "prod")},
       reduction,
       false,
       "Product over a dimension."},
      {"max",
       builtin_func,
       {method("aten::max", "max"), method("aten::amax", "amax")},
       extremum,
       false,
       "Largest value."},
      {"min",
       builtin_func,
       {method("aten::min", "min"), method("aten::amin", "amin")},
       extremum,
       false,
       "Smallest value."},
      {"argmax",
       builtin_func,
       {method("aten::argmax", "argmax")},
       {{"self", "data_in"}, {"dim", ""}, {"keepdim", ""}},
       false,
       "Place of the largest value."},
      {"argmin",
       builtin_func,
       {method("aten::argmin", "argmin")},
       {{"self", "data_in"}, {"dim", ""}, {"keepdim", ""}},
       false,
       "Place of the smallest value."},
      {"var",
       builtin_func,
       {method("aten::var", "var")},
       {{"self", "data_in"}, {"dim", ""}, {"unbiased", ""}, {"correction", ""}, {"keepdim", ""}},
       false,
       "Variance over dimensions."},
      {"std",
       builtin_func,
       {method("aten::std", "std")},
       {{"self", "data_in"}, {"dim", ""}, {"unbiased", ""}, {"correction", ""}, {"keepdim", ""}},
       false,
       "Standard deviation over dimensions."},
      {"cumsum",
       builtin_func,
       {method("aten::cumsum", "cumsum")},
       {{"self", "data_in"}, {"dim", ""}, {"dtype", ""}},
       false,
       "Running sum."},
  };
}

}  // namespace

std::vector<OpSource> arithmetic_sources() {
  std::vector<OpSource> rows;
  for (const auto& part : {products(), elementwise_rows(), comparisons(), reductions()})
    rows.insert(rows.end(), part.begin(), part.end());
  return rows;
}

}  // namespace mase::ir
