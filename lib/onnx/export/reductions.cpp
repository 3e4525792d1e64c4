// SPDX-License-Identifier: Apache-2.0
// Rows of reductions and of running sums.
#include <algorithm>
#include <cmath>

#include "onnx/export/rows.hpp"

namespace mase::onnx {
namespace {

Attribute keeps(bool kept) { return attribute("keepdims", std::int64_t{kept}); }

/// The dimensions of an argument; empty for all of them.
Integers reduced_dims(NodeWriter& node) {
  if (!node.has("dim")) return {};
  const auto dims = node.integers("dim");
  if (!dims) node.refuse("its dimensions must be constant");
  return *dims;
}

Names reduction_operands(NodeWriter& node, const std::string& x) {
  const Integers dims = reduced_dims(node);
  if (dims.empty()) return {x};
  return {x, node.ints(dims)};
}

ExportRow reduction(std::string_view op, std::string_view name) {
  return {op, [name](NodeWriter& node) {
            const std::string x = node.operand("self", node.result_dtype());
            node.finish(name, reduction_operands(node, x), {keeps(node.flag("keepdim", false))});
          }};
}

/// The largest or smallest: of two tensors, of all, along a dimension, or with its place.
void extremum(NodeWriter& node, bool largest) {
  const std::string_view reduce = largest ? "ReduceMax" : "ReduceMin";
  if (node.has("other")) {
    const DType dtype = node.result_dtype();
    return node.finish(largest ? "Max" : "Min",
                       {node.operand("self", dtype), node.operand("other", dtype)});
  }
  const std::string x = node.tensor("self");
  const Attributes attributes{keeps(node.flag("keepdim", false))};
  if (node.node().info.is_tensor())
    return node.finish(reduce, reduction_operands(node, x), attributes);
  const std::string value = node.write(reduce, reduction_operands(node, x), attributes);
  const std::string place = node.write(largest ? "ArgMax" : "ArgMin", {x},
                                       {along(node.integer("dim", 0)), attributes[0]});
  node.finish_as({value, place});
}

/// The place in the tensor without dimensions, if no dimension is given.
ExportRow place_of(std::string_view op, std::string_view name) {
  return {op, [name](NodeWriter& node) {
            std::string x = node.tensor("self");
            if (node.has("dim"))
              return node.finish(
                  name, {x}, {along(node.integer("dim", 0)), keeps(node.flag("keepdim", false))});
            x = node.write("Reshape", {x, node.ints({-1})});
            node.finish(name, {x}, {along(0), keeps(false)});
          }};
}

/// The number of elements that a reduction joins, as a number of the tensor's type.
std::string count_of(NodeWriter& node, const std::string& x, DType dtype) {
  std::string sizes = node.write("Shape", {x});
  if (const Integers dims = reduced_dims(node); !dims.empty()) {
    Integers axes;
    for (const std::int64_t dim : dims) axes.push_back(NodeWriter::axis(dim, node.rank("self")));
    sizes = node.write("Gather", {sizes, node.ints(axes)}, {along(0)});
  }
  return node.cast(node.write("ReduceProd", {sizes}, {keeps(false)}), DType::int64, dtype);
}

/// The sum of squares of deviations, divided by the count less the correction.
void variance(NodeWriter& node, bool root) {
  const DType dtype = node.result_dtype();
  const std::string x = node.tensor("self");
  const std::string mean = node.write("ReduceMean", reduction_operands(node, x), {keeps(true)});
  const std::string away = node.write("Sub", {x, mean});
  const std::string squares = node.write("Mul", {away, away});
  const std::string sum = node.write("ReduceSum", reduction_operands(node, squares),
                                     {keeps(node.flag("keepdim", false))});
  const double correction = node.number("correction", node.flag("unbiased", true) ? 1 : 0);
  const Names quotient{
      sum, node.write("Sub", {count_of(node, x, dtype), node.scalar(correction, dtype)})};
  if (!root) return node.finish("Div", quotient);
  node.finish("Sqrt", {node.write("Div", quotient)});
}

void running_sum(NodeWriter& node) {
  node.finish("CumSum", {node.operand("self", node.result_dtype()),
                         node.scalar(double(node.integer("dim", 0)), DType::int64)});
}

/// Every element less the one before it, so many times.
void difference(NodeWriter& node) {
  const Integers axis{NodeWriter::axis(node.integer("dim", -1), node.rank("self"))};
  Names parts;
  for (const char* argument : {"prepend", "self", "append"})
    if (node.has(argument)) parts.push_back(node.operand(argument, node.result_dtype()));
  std::string x = parts.size() == 1 ? parts[0] : node.write("Concat", parts, {along(axis[0])});
  for (std::int64_t i = 0; i < node.integer("n", 1); ++i) {
    const std::string later =
        node.write("Slice", {x, node.ints({1}), node.ints({to_the_end}), node.ints(axis)});
    const std::string earlier =
        node.write("Slice", {x, node.ints({0}), node.ints({-1}), node.ints(axis)});
    x = node.write("Sub", {later, earlier});
  }
  node.finish("Identity", {x});
}

/// The sum of |x|^order along dimensions, to the power of 1 / order.
void vector_norm(NodeWriter& node, std::string_view argument) {
  const double order = node.number(argument, 2);
  const DType dtype = node.result_dtype();
  const std::string x = node.operand("self", dtype);
  const Attributes attributes{keeps(node.flag("keepdim", false))};
  if (order == 2) return node.finish("ReduceL2", reduction_operands(node, x), attributes);
  if (order == 1) return node.finish("ReduceL1", reduction_operands(node, x), attributes);
  const std::string size = node.write("Abs", {x});
  if (std::isinf(order))
    return node.finish(order > 0 ? "ReduceMax" : "ReduceMin", reduction_operands(node, size),
                       attributes);
  if (order == 0) node.refuse("it counts elements that are not 0");
  const std::string powers = node.write("Pow", {size, node.scalar(order, dtype)});
  const std::string sum = node.write("ReduceSum", reduction_operands(node, powers), attributes);
  node.finish("Pow", {sum, node.scalar(1 / order, dtype)});
}

/// A loss of scores, or of their logarithms, [rows, classes, ...] against labels.
void class_loss(NodeWriter& node, std::string_view op) {
  constexpr std::string_view reductions[] = {"none", "mean", "sum"};
  const auto reduction = static_cast<std::size_t>(node.integer("reduction", 1));
  if (reduction >= std::size(reductions)) node.refuse("its reduction is unknown");
  if (node.number("label_smoothing", 0) != 0) node.refuse("ONNX does not smooth labels");
  if (is_floating(node.dtype("target"))) node.refuse("its targets are probabilities");
  Names operands{node.tensor("self"), node.tensor("target")};
  if (node.has("weight")) operands.push_back(node.tensor("weight"));
  node.finish(op, operands,
              {attribute("reduction", std::string(reductions[reduction])),
               attribute("ignore_index", node.integer("ignore_index", -100))});
}

/// Values in order, and their places.
void in_order(NodeWriter& node, std::string_view count, bool largest) {
  const std::int64_t axis = NodeWriter::axis(node.integer("dim", -1), node.rank("self"));
  const std::string x = node.tensor("self");
  const std::string k =
      node.has(count) ? node.sizes(*node.find(count)) : node.shape_part(x, axis, axis + 1);
  node.finish_list("TopK", {x, k}, 2,
                   {along(axis), attribute("largest", std::int64_t{largest}),
                    attribute("sorted", std::int64_t{1})});
}

}  // namespace

std::vector<ExportRow> exported_reductions() {
  return {
      reduction("aten::mean", "ReduceMean"),
      reduction("aten::sum", "ReduceSum"),
      reduction("aten::prod", "ReduceProd"),
      reduction("aten::logsumexp", "ReduceLogSumExp"),
      reduction("aten::amax", "ReduceMax"),
      reduction("aten::amin", "ReduceMin"),
      {"aten::max", [](NodeWriter& node) { extremum(node, true); }},
      {"aten::min", [](NodeWriter& node) { extremum(node, false); }},
      place_of("aten::argmax", "ArgMax"),
      place_of("aten::argmin", "ArgMin"),
      {"aten::var", [](NodeWriter& node) { variance(node, false); }},
      {"aten::std", [](NodeWriter& node) { variance(node, true); }},
      {"aten::cumsum", running_sum},
      {"aten::diff", difference},
      {"aten::linalg_vector_norm", [](NodeWriter& node) { vector_norm(node, "ord"); }},
      {"aten::norm", [](NodeWriter& node) { vector_norm(node, "p"); }},
      {"aten::cross_entropy_loss",
       [](NodeWriter& node) { class_loss(node, "SoftmaxCrossEntropyLoss"); }},
      {"aten::nll_loss_nd",
       [](NodeWriter& node) { class_loss(node, "NegativeLogLikelihoodLoss"); }},
      {"aten::topk", [](NodeWriter& node) { in_order(node, "k", node.flag("largest", true)); }},
      {"aten::sort", [](NodeWriter& node) { in_order(node, "", node.flag("descending", false)); }},
  };
}

}  // namespace mase::onnx
