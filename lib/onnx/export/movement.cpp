// SPDX-License-Identifier: Apache-2.0
// Rows of operators that join, split and move elements.
#include <algorithm>
#include <limits>

#include "onnx/export/rows.hpp"

namespace mase::onnx {
namespace {

void concat(NodeWriter& node) {
  node.finish("Concat", node.tensors("tensors"),
              {along(NodeWriter::axis(node.integer("dim", 0), node.result_rank()))});
}

void stack(NodeWriter& node) {
  const std::int64_t axis = NodeWriter::axis(node.integer("dim", 0), node.result_rank());
  Names tensors = node.tensors("tensors");
  for (std::string& one : tensors) one = node.unsqueezed(one, {axis});
  node.finish("Concat", tensors, {along(axis)});
}

/// The sizes of the parts are those of the example, so the dimension must not follow the batch.
void split(NodeWriter& node) {
  const std::int64_t axis = NodeWriter::axis(node.integer("dim", 0), node.rank("self"));
  if (!node.fixed_size("self", axis)) node.refuse("it splits a dimension that follows the batch");
  Integers sizes;
  for (const ir::ValueInfo& part : node.node().info.elements)
    sizes.push_back(part.shape.at(static_cast<std::size_t>(axis)));
  node.finish_list("Split", {node.tensor("self"), node.ints(sizes)}, sizes.size(), {along(axis)});
}

void unbind(NodeWriter& node) {
  const std::int64_t axis = NodeWriter::axis(node.integer("dim", 0), node.rank("self"));
  if (!node.fixed_size("self", axis)) node.refuse("it splits a dimension that follows the batch");
  Names parts;
  for (std::size_t i = 0; i < node.node().info.elements.size(); ++i)
    parts.push_back(node.write(
        "Gather", {node.tensor("self"), node.scalar(static_cast<double>(i), DType::int64)},
        {along(axis)}));
  node.finish_as(parts);
}

/// PyTorch lists pairs from the last dimension on, ONNX all beginnings and then all ends.
void pad(NodeWriter& node) {
  const ir::Value* given = node.find("pad");
  if (!given || given->is_node()) node.refuse("its pads must be a list");
  const auto rank = static_cast<std::size_t>(node.rank("self"));
  ir::Value::List pads(2 * rank, ir::Value(0));
  for (std::size_t i = 0; 2 * i + 1 < given->items().size(); ++i) {
    const std::size_t dim = rank - 1 - i;
    pads.at(dim) = given->items()[2 * i];
    pads.at(dim + rank) = given->items()[2 * i + 1];
  }
  std::string mode = node.text("mode", "constant");
  if (mode == "replicate") mode = "edge";
  if (mode == "circular") mode = "wrap";
  Names operands{node.tensor("self"), node.sizes(ir::Value::list(std::move(pads)))};
  if (mode == "constant")
    operands.push_back(node.scalar(node.number("value", 0), node.result_dtype()));
  node.finish("Pad", operands, {attribute("mode", mode)});
}

void flip(NodeWriter& node) {
  Integers axes = node.integers("dims").value_or(Integers{});
  const Integers last(axes.size(), -1),
      first(axes.size(), std::numeric_limits<std::int64_t>::min());
  node.finish("Slice", {node.tensor("self"), node.ints(last), node.ints(first), node.ints(axes),
                        node.ints(last)});
}

/// The end in front of the beginning, dimension by dimension.
void roll(NodeWriter& node) {
  const Integers shifts = node.integers("shifts").value_or(Integers{});
  const Integers dims = node.integers("dims").value_or(Integers{});
  if (dims.size() != shifts.size() || dims.empty()) node.refuse("it rolls all dimensions as one");
  std::string x = node.tensor("self");
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::int64_t axis = NodeWriter::axis(dims[i], node.rank("self"));
    const auto size = node.fixed_size("self", axis);
    if (!size || *size == 0) node.refuse("it rolls a dimension that follows the batch");
    const std::int64_t cut = ((-shifts[i]) % *size + *size) % *size;
    const std::string end =
        node.write("Slice", {x, node.ints({cut}), node.ints({to_the_end}), node.ints({axis})});
    const std::string begin =
        node.write("Slice", {x, node.ints({0}), node.ints({cut}), node.ints({axis})});
    x = node.write("Concat", {end, begin}, {along(axis)});
  }
  node.finish("Identity", {x});
}

void triangle(NodeWriter& node, bool upper) {
  node.finish("Trilu",
              {node.tensor("self"), node.scalar(double(node.integer("diagonal", 0)), DType::int64)},
              {attribute("upper", std::int64_t{upper})});
}

}  // namespace

std::vector<ExportRow> exported_movement() {
  return {
      {"aten::cat", concat},
      {"aten::concat", concat},
      {"aten::stack", stack},
      {"aten::chunk", split},
      {"aten::split", split},
      {"aten::split_with_sizes", split},
      {"aten::unbind", unbind},
      {"aten::pad", pad},
      {"aten::flip", flip},
      {"aten::roll", roll},
      {"aten::triu", [](NodeWriter& node) { triangle(node, true); }},
      {"aten::tril", [](NodeWriter& node) { triangle(node, false); }},
  };
}

}  // namespace mase::onnx
