// SPDX-License-Identifier: Apache-2.0
// Rows of shapes and of sizes, which are tensors without dimensions in ONNX.
#include <algorithm>
#include <numeric>

#include "onnx/export/rows.hpp"

namespace mase::onnx {
namespace {

void identity(NodeWriter& node, std::string_view argument) {
  node.finish("Identity", {node.tensor(argument)});
}

ExportRow unchanged(std::string_view op, std::string_view argument = "self") {
  return {op, [argument](NodeWriter& node) { identity(node, argument); }};
}

void dropout(NodeWriter& node) {
  if (const ir::Value* train = node.find("train");
      train && train->kind() == ir::Value::Kind::boolean && train->as_bool())
    node.refuse("it draws numbers at every run; the pass remove_dropout removes it");
  identity(node, "input");
}

/// One size, or all of them as a list.
void size(NodeWriter& node) {
  const std::string x = node.tensor("self");
  const std::int64_t rank = node.rank("self");
  if (node.has("dim")) {
    const std::int64_t dim = NodeWriter::axis(node.integer("dim", 0), rank);
    return node.finish("Squeeze", {node.shape_part(x, dim, dim + 1), node.ints({0})});
  }
  Names sizes;
  for (std::int64_t i = 0; i < rank; ++i)
    sizes.push_back(node.write("Squeeze", {node.shape_part(x, i, i + 1), node.ints({0})}));
  node.finish_as(sizes);
}

void rank(NodeWriter& node) {
  node.finish("Identity", {node.scalar(static_cast<double>(node.rank("self")), DType::int64)});
}

void reshape_to(NodeWriter& node, const ir::Value& sizes) {
  Attributes attributes;
  const auto is_zero = [](const ir::Value& one) { return one == ir::Value(0); };
  if (!sizes.is_node() && sizes.kind() != ir::Value::Kind::integer &&
      std::ranges::any_of(sizes.items(), is_zero))
    attributes.push_back(attribute("allowzero", std::int64_t{1}));
  node.finish("Reshape", {node.tensor("self"), node.sizes(sizes)}, std::move(attributes));
}

ExportRow reshape(std::string_view op, std::string_view argument) {
  return {op, [argument](NodeWriter& node) {
            const ir::Value* sizes = node.find(argument);
            if (!sizes) node.refuse("it reads the bits of its input as another type");
            reshape_to(node, *sizes);
          }};
}

/// The sizes of the input with those from `first` to `last` replaced.
std::string replaced_sizes(NodeWriter& node, const std::string& x, std::int64_t first,
                           std::int64_t last, const std::string& middle) {
  Names parts;
  const std::int64_t rank = node.rank("self");
  if (first > 0) parts.push_back(node.shape_part(x, 0, first));
  parts.push_back(middle);
  if (last + 1 < rank) parts.push_back(node.shape_part(x, last + 1, rank));
  return parts.size() == 1 ? parts[0] : node.write("Concat", parts, {along(0)});
}

/// Sizes before the joined dimensions can be copied by a 0.
void flatten(NodeWriter& node) {
  const std::int64_t rank = node.rank("self");
  const std::int64_t first = NodeWriter::axis(node.integer("start_dim", 0), rank);
  const std::int64_t last = NodeWriter::axis(node.integer("end_dim", -1), rank);
  const std::string x = node.tensor("self");
  if (rank == 0) return node.finish("Reshape", {x, node.ints({1})});
  if (first == 1 && last == rank - 1) return node.finish("Flatten", {x}, {along(1)});
  if (last == rank - 1) {
    Integers sizes(static_cast<std::size_t>(first), 0);
    sizes.push_back(-1);
    return node.finish("Reshape", {x, node.ints(sizes)});
  }
  node.finish("Reshape", {x, replaced_sizes(node, x, first, last, node.ints({-1}))});
}

void unflatten(NodeWriter& node) {
  const std::int64_t dim = NodeWriter::axis(node.integer("dim", 0), node.rank("self"));
  const std::string x = node.tensor("self");
  const std::string sizes = node.sizes(*node.find("sizes"));
  node.finish("Reshape", {x, replaced_sizes(node, x, dim, dim, sizes)});
}

/// Dimensions of other sizes stay.
void squeeze(NodeWriter& node) {
  const Shape& shape = node.shape("self");
  const auto rank = static_cast<std::int64_t>(shape.size());
  Integers dims(shape.size());
  std::iota(dims.begin(), dims.end(), 0);
  if (node.has("dim")) dims = node.integers("dim").value_or(Integers{});
  Integers axes;
  for (const std::int64_t dim : dims)
    if (rank > 0 && shape[static_cast<std::size_t>(NodeWriter::axis(dim, rank))] == 1)
      axes.push_back(NodeWriter::axis(dim, rank));
  if (axes.empty()) return identity(node, "self");
  node.finish("Squeeze", {node.tensor("self"), node.ints(axes)});
}

void unsqueeze(NodeWriter& node) {
  const std::int64_t dim = NodeWriter::axis(node.integer("dim", 0), node.rank("self") + 1);
  node.finish("Unsqueeze", {node.tensor("self"), node.ints({dim})});
}

void permute_to(NodeWriter& node, const Integers& order) {
  node.finish("Transpose", {node.tensor("self")}, {attribute("perm", order)});
}

void swap_dims(NodeWriter& node, std::int64_t a, std::int64_t b) {
  const std::int64_t rank = node.rank("self");
  if (rank < 2) return identity(node, "self");
  Integers order(static_cast<std::size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<std::size_t>(NodeWriter::axis(a, rank))],
            order[static_cast<std::size_t>(NodeWriter::axis(b, rank))]);
  permute_to(node, order);
}

void permute(NodeWriter& node) {
  Integers order = node.integers("dims").value_or(Integers{});
  for (std::int64_t& dim : order) dim = NodeWriter::axis(dim, node.rank("self"));
  permute_to(node, order);
}

void reverse_dims(NodeWriter& node) {
  Integers order(static_cast<std::size_t>(node.rank("self")));
  std::iota(order.rbegin(), order.rend(), 0);
  permute_to(node, order);
}

/// A size of -1 keeps a dimension, as one of 1 does in ONNX, where both broadcast.
void expand(NodeWriter& node) {
  ir::Value sizes = *node.find("size");
  if (!sizes.is_node())
    for (ir::Value& one : sizes.items())
      if (one == ir::Value(-1)) one = 1;
  node.finish("Expand", {node.tensor("self"), node.sizes(sizes)});
}

/// In the shape of another tensor.
void shaped_as(NodeWriter& node, std::string_view op) {
  const std::string shape = node.write("Shape", {node.tensor("other")});
  node.finish(op, {node.tensor("self"), shape});
}

/// A list may have more numbers than the input has dimensions.
void repeat(NodeWriter& node, std::string_view argument) {
  const ir::Value* repeats = node.find(argument);
  if (!repeats || repeats->is_node()) node.refuse("its repeats must be a list");
  const auto rank = node.rank("self");
  const auto count = static_cast<std::int64_t>(repeats->items().size());
  std::string x = node.tensor("self"), times = node.sizes(*repeats);
  if (count > rank) {
    Integers axes(static_cast<std::size_t>(count - rank));
    std::iota(axes.begin(), axes.end(), 0);
    x = node.unsqueezed(x, axes);
  } else if (count < rank) {
    const Integers ones(static_cast<std::size_t>(rank - count), 1);
    times = node.write("Concat", {node.ints(ones), times}, {along(0)});
  }
  node.finish("Tile", {x, times});
}

/// Repeats along a new dimension, which joins the one before it.
void repeat_interleave(NodeWriter& node) {
  const auto rank = node.rank("self");
  if (!node.has("dim")) node.refuse("it joins all dimensions");
  const std::int64_t dim = NodeWriter::axis(node.integer("dim", 0), rank);
  const std::string x = node.tensor("self");
  Integers times(static_cast<std::size_t>(rank) + 1, 1);
  times[static_cast<std::size_t>(dim) + 1] = node.integer("repeats", 1);
  const std::string repeated =
      node.write("Tile", {node.unsqueezed(x, {dim + 1}), node.ints(times)});
  node.finish("Reshape", {repeated, replaced_sizes(node, x, dim, dim, node.ints({-1}))});
}

void convert(NodeWriter& node, std::string_view argument) {
  const DType from = node.dtype(argument), to = node.result_dtype();
  if (from == to) return identity(node, argument);
  node.finish("Cast", {node.operand(argument, from)},
              {attribute("to", static_cast<std::int64_t>(element_of(to)))});
}

ExportRow conversion(std::string_view op, std::string_view argument = "self") {
  return {op, [argument](NodeWriter& node) { convert(node, argument); }};
}

/// A new tensor of this size with one value.
void filled(NodeWriter& node, const std::string& size, const ir::Value& value) {
  node.finish("Expand", {node.operand_of(value, node.result_dtype()), size});
}

ExportRow filled(std::string_view op, double value) {
  return {op, [value](NodeWriter& node) {
            filled(node, node.sizes(*node.find("size")), ir::Value(value));
          }};
}

ExportRow filled_like(std::string_view op, double value) {
  return {op, [value](NodeWriter& node) {
            filled(node, node.write("Shape", {node.tensor("self")}), ir::Value(value));
          }};
}

void full(NodeWriter& node) {
  filled(node, node.sizes(*node.find("size")), *node.find("fill_value"));
}

ExportRow full_like(std::string_view op, std::string_view value) {
  return {op, [value](NodeWriter& node) {
            filled(node, node.write("Shape", {node.tensor("self")}), *node.find(value));
          }};
}

void range(NodeWriter& node) {
  const DType dtype = node.result_dtype();
  const auto part = [&](std::string_view argument, double otherwise) {
    return node.has(argument) ? node.operand(argument, dtype) : node.scalar(otherwise, dtype);
  };
  node.finish("Range", {part("start", 0), part("end", 0), part("step", 1)});
}

void length(NodeWriter& node) {
  const std::string first = node.shape_part(node.tensor("a"), 0, 1);
  node.finish("Squeeze", {first, node.ints({0})});
}

}  // namespace

std::vector<ExportRow> exported_shapes() {
  return {
      {"aten::size", size},
      {"aten::dim", rank},
      {"aten::numel", [](NodeWriter& node) { node.finish("Size", {node.tensor("self")}); }},
      {"aten::len", length},
      reshape("aten::view", "size"),
      reshape("aten::reshape", "shape"),
      {"aten::flatten", flatten},
      {"aten::unflatten", unflatten},
      {"aten::squeeze", squeeze},
      {"aten::unsqueeze", unsqueeze},
      {"aten::transpose",
       [](NodeWriter& node) { swap_dims(node, node.integer("dim0", 0), node.integer("dim1", 1)); }},
      {"aten::t", [](NodeWriter& node) { swap_dims(node, 0, 1); }},
      {"aten::mT", [](NodeWriter& node) { swap_dims(node, -2, -1); }},
      {"aten::numpy_T", reverse_dims},
      {"aten::permute", permute},
      {"aten::expand", expand},
      {"aten::expand_as", [](NodeWriter& node) { shaped_as(node, "Expand"); }},
      {"aten::view_as", [](NodeWriter& node) { shaped_as(node, "Reshape"); }},
      {"aten::reshape_as", [](NodeWriter& node) { shaped_as(node, "Reshape"); }},
      {"aten::repeat", [](NodeWriter& node) { repeat(node, "repeats"); }},
      {"aten::tile", [](NodeWriter& node) { repeat(node, "dims"); }},
      {"aten::repeat_interleave", repeat_interleave},
      unchanged("aten::contiguous"),
      unchanged("aten::clone"),
      unchanged("aten::detach"),
      unchanged("mase::identity"),
      {"aten::dropout", dropout},
      {"aten::feature_dropout", dropout},
      {"aten::alpha_dropout", dropout},
      {"aten::feature_alpha_dropout", dropout},
      conversion("aten::to"),
      conversion("aten::type_as"),
      conversion("aten::Int", "a"),
      conversion("aten::Float", "a"),
      conversion("aten::Bool", "a"),
      filled("aten::zeros", 0),
      filled("aten::ones", 1),
      filled("aten::new_zeros", 0),
      filled("aten::new_ones", 1),
      filled_like("aten::zeros_like", 0),
      filled_like("aten::zero", 0),
      filled_like("aten::ones_like", 1),
      {"aten::full", full},
      {"aten::new_full", full},
      full_like("aten::full_like", "fill_value"),
      full_like("aten::fill", "value"),
      {"aten::arange", range},
      {"aten::scalar_tensor",
       [](NodeWriter& node) { node.finish("Identity", {node.operand("s", node.result_dtype())}); }},
  };
}

}  // namespace mase::onnx
