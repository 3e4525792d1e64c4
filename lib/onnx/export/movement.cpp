// SPDX-License-Identifier: Apache-2.0
// Rows of operators that choose, join and move elements.
#include <algorithm>
#include <limits>

#include "onnx/export/rows.hpp"

namespace mase::onnx {
namespace {

constexpr std::int64_t to_the_end = std::numeric_limits<std::int64_t>::max();

Attribute along(std::int64_t axis) { return attribute("axis", axis); }

/// A bound of a slice as a tensor of one dimension.
std::string bound(NodeWriter& node, const ir::Value* value, std::int64_t otherwise) {
  if (!value || value->is_none()) return node.ints({otherwise});
  return node.sizes(value->is_node() ? ir::Value::list({*value}) : *value);
}

/// The operands of Slice after the data.
Names slice_operands(NodeWriter& node, const ir::Value* start, const ir::Value* stop,
                     const ir::Value* step, std::int64_t axis) {
  return {bound(node, start, 0), bound(node, stop, to_the_end), node.ints({axis}),
          bound(node, step, 1)};
}

void with_data(Names& operands, const std::string& data) {
  operands.insert(operands.begin(), data);
}

void slice(NodeWriter& node) {
  const std::int64_t axis = NodeWriter::axis(node.integer("dim", 0), node.rank("self"));
  Names operands =
      slice_operands(node, node.find("start"), node.find("end"), node.find("step"), axis);
  with_data(operands, node.tensor("self"));
  node.finish("Slice", operands);
}

void narrow(NodeWriter& node) {
  const std::int64_t axis = NodeWriter::axis(node.integer("dim", 0), node.rank("self"));
  const std::string start = bound(node, node.find("start"), 0);
  const std::string length = bound(node, node.find("length"), 0);
  const std::string end = node.write("Add", {start, length});
  node.finish("Slice", {node.tensor("self"), start, end, node.ints({axis})});
}

void select(NodeWriter& node) {
  const std::int64_t axis = NodeWriter::axis(node.integer("dim", 0), node.rank("self"));
  node.finish("Gather", {node.tensor("self"), node.operand("index", DType::int64)}, {along(axis)});
}

/// A step of Python indexing: how it changes the tensor and its dimensions.
class Indexing {
 public:
  Indexing(NodeWriter& node, std::string data) : node_(node), data_(std::move(data)) {}

  /// Gives the name of the last value, if there was any step.
  void apply(const std::vector<ir::Value>& items) {
    for (const ir::Value& item : items) apply(item);
  }
  void finish() { node_.finish("Identity", {data_}); }

 private:
  void apply(const ir::Value& item) {
    using Kind = ir::Value::Kind;
    switch (item.kind()) {
      case Kind::none:
        data_ = node_.unsqueezed(data_, {axis_++});
        return;
      case Kind::slice: {
        const auto& bounds = item.items();
        const auto all = [](const ir::Value& one) { return one.is_none(); };
        if (!std::ranges::all_of(bounds, all)) {
          Names operands = slice_operands(node_, &bounds[0], &bounds[1], &bounds[2], axis_);
          with_data(operands, data_);
          data_ = node_.write("Slice", operands);
        }
        ++axis_;
        return;
      }
      case Kind::integer:
      case Kind::node:
        return choose(item);
      default:
        node_.refuse("its index is not made of numbers, slices and tensors");
    }
  }

  /// A number removes the dimension, a tensor puts its own dimensions in its place.
  void choose(const ir::Value& item) {
    const bool tensor = item.is_node() && node_.graph().node(item.node()).info.is_tensor();
    if (tensor && node_.dtype_of(item) == DType::boolean)
      node_.refuse("the number of elements that its mask chooses is not known");
    if (tensor && chosen_) node_.refuse("it is indexed by several tensors");
    chosen_ = chosen_ || tensor;
    data_ = node_.write("Gather", {data_, node_.operand_of(item, DType::int64)}, {along(axis_)});
    if (tensor)
      axis_ += static_cast<std::int64_t>(node_.graph().node(item.node()).info.shape.size());
  }

  NodeWriter& node_;
  std::string data_;
  std::int64_t axis_ = 0;
  bool chosen_ = false;
};

bool is_ellipsis(const ir::Value& item) {
  return item.kind() == ir::Value::Kind::string && item.as_string() == "...";
}

/// The values of a list's item, which may be a list itself.
void item_of_list(NodeWriter& node, const ir::ValueInfo& list) {
  const auto count = static_cast<std::int64_t>(list.elements.size());
  const std::int64_t i = NodeWriter::axis(node.integer("index", 0), count);
  if (i < 0 || i >= count) node.refuse("its index is outside of the list");
  const auto item = list.elements.begin() + i;
  std::size_t first = 0;
  for (auto before = list.elements.begin(); before != item; ++before) first += leaves(*before);
  const Names all = node.values(node.find("value")->node());
  if (leaves(*item) == 1) return node.finish("Identity", {all.at(first)});
  Names results;
  for (std::size_t k = first; k < first + leaves(*item); ++k)
    results.push_back(node.write("Identity", {all.at(k)}));
  node.finish_as(results);
}

void getitem(NodeWriter& node) {
  const ir::Value* index = node.find("index");
  if (!index) node.refuse("it has no index");
  const ir::ValueInfo& whole = node.info("value");
  if (!whole.is_tensor()) {
    return item_of_list(node, whole);
  }
  std::vector<ir::Value> items{*index};
  if (index->kind() == ir::Value::Kind::tuple) items = index->items();
  if (std::ranges::any_of(items, is_ellipsis)) {
    const auto at = std::ranges::find_if(items, is_ellipsis);
    const auto taken = std::ranges::count_if(
        items, [](const ir::Value& one) { return !one.is_none() && !is_ellipsis(one); });
    const auto place = items.erase(at);
    items.insert(place, whole.shape.size() - static_cast<std::size_t>(taken),
                 ir::Value::slice({}, {}, {}));
  }
  Indexing indexing(node, node.tensor("value"));
  indexing.apply(items);
  indexing.finish();
}

/// Indexing by tensors; none takes all of a dimension.
void index(NodeWriter& node) {
  const ir::Value* indices = node.find("indices");
  if (!indices || indices->is_node()) node.refuse("its indices are not known");
  std::vector<ir::Value> items;
  for (const ir::Value& one : indices->items())
    items.push_back(one.is_none() ? ir::Value::slice({}, {}, {}) : one);
  Indexing indexing(node, node.tensor("self"));
  indexing.apply(items);
  indexing.finish();
}

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

void gather(NodeWriter& node) {
  const std::int64_t axis = NodeWriter::axis(node.integer("dim", 0), node.rank("self"));
  node.finish("GatherElements", {node.tensor("self"), node.tensor("index")}, {along(axis)});
}

void index_select(NodeWriter& node) {
  const std::int64_t axis = NodeWriter::axis(node.integer("dim", 0), node.rank("self"));
  node.finish("Gather", {node.tensor("self"), node.tensor("index")}, {along(axis)});
}

void scatter(NodeWriter& node) {
  if (node.has("reduce")) node.refuse("it combines what it writes with what is there");
  const std::int64_t axis = NodeWriter::axis(node.integer("dim", 0), node.rank("self"));
  const std::string places = node.tensor("index");
  const std::string values = node.has("src")
                                 ? node.tensor("src")
                                 : node.write("Expand", {node.operand("value", node.result_dtype()),
                                                         node.write("Shape", {places})});
  node.finish("ScatterElements", {node.tensor("self"), places, values}, {along(axis)});
}

/// PyTorch lists pairs from the last dimension on, ONNX all beginnings and then all ends.
void pad(NodeWriter& node) {
  const auto given = node.integers("pad");
  if (!given) node.refuse("its pads must be constant");
  const auto rank = static_cast<std::size_t>(node.rank("self"));
  Integers pads(2 * rank, 0);
  for (std::size_t i = 0; 2 * i + 1 < given->size(); ++i) {
    const std::size_t dim = rank - 1 - i;
    pads.at(dim) = (*given)[2 * i];
    pads.at(dim + rank) = (*given)[2 * i + 1];
  }
  std::string mode = node.text("mode", "constant");
  if (mode == "replicate") mode = "edge";
  if (mode == "circular") mode = "wrap";
  Names operands{node.tensor("self"), node.ints(pads)};
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
      {"mase::getitem", getitem},
      {"aten::slice", slice},
      {"aten::narrow", narrow},
      {"aten::select", select},
      {"aten::index", index},
      {"aten::cat", concat},
      {"aten::concat", concat},
      {"aten::stack", stack},
      {"aten::chunk", split},
      {"aten::split", split},
      {"aten::split_with_sizes", split},
      {"aten::unbind", unbind},
      {"aten::gather", gather},
      {"aten::index_select", index_select},
      {"aten::scatter", scatter},
      {"aten::pad", pad},
      {"aten::flip", flip},
      {"aten::roll", roll},
      {"aten::triu", [](NodeWriter& node) { triangle(node, true); }},
      {"aten::tril", [](NodeWriter& node) { triangle(node, false); }},
  };
}

}  // namespace mase::onnx
