// SPDX-License-Identifier: Apache-2.0
// Rows of operators that choose elements by indices and slices, or write to them.
#include <algorithm>
#include <numeric>
#include <utility>

#include "onnx/export/rows.hpp"

namespace mase::onnx {
namespace {

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

/// Tensors of places, which broadcast, as [broadcast dimensions..., number of tensors].
std::string joined_places(NodeWriter& node, const Names& places) {
  std::string sum = places.at(0);
  for (std::size_t i = 1; i < places.size(); ++i) sum = node.write("Add", {sum, places[i]});
  const std::string shape = node.write("Shape", {sum});
  Names all;
  for (const std::string& one : places)
    all.push_back(node.unsqueezed(node.write("Expand", {one, shape}), {-1}));
  return node.write("Concat", all, {along(-1)});
}

/// Python's indexing, item by item. Numbers, slices and new dimensions are applied first, tensors
/// of indices together at the end: theirs broadcast, and their dimensions come where they stood if
/// they stood side by side, else in front.
class Indexing {
 public:
  Indexing(NodeWriter& node, std::string data, std::int64_t rank)
      : node_(node), data_(std::move(data)), rank_(rank) {}

  /// Gives the name of the last value, if there was any step.
  void apply(const std::vector<ir::Value>& items) {
    for (const ir::Value& item : items) apply(item);
    if (chosen_.size() == 1)
      data_ = node_.write("Gather", {data_, chosen_[0].places}, {along(chosen_[0].axis)});
    if (chosen_.size() > 1) gather_all();
  }
  void finish() { node_.finish("Identity", {data_}); }

 private:
  struct Chosen {
    std::int64_t axis;
    std::string places;
    std::int64_t rank;
  };

  void apply(const ir::Value& item) {
    using Kind = ir::Value::Kind;
    switch (item.kind()) {
      case Kind::none:
        data_ = node_.unsqueezed(data_, {axis_++});
        ++rank_;
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

  /// A number, or a tensor without dimensions, removes the dimension.
  void choose(const ir::Value& item) {
    const ir::ValueInfo* info = item.is_node() ? &node_.graph().node(item.node()).info : nullptr;
    const bool tensor = info && info->is_tensor();
    if (tensor && info->dtype == DType::boolean)
      node_.refuse("the number of elements that its mask chooses is not known");
    const std::string places = node_.operand_of(item, DType::int64);
    if (tensor && !info->shape.empty()) {
      chosen_.push_back({axis_++, places, static_cast<std::int64_t>(info->shape.size())});
      return;
    }
    data_ = node_.write("Gather", {data_, places}, {along(axis_)});
    --rank_;
  }

  void gather_all() {
    Integers order, rest;
    for (const Chosen& one : chosen_) order.push_back(one.axis);
    for (std::int64_t axis = 0; axis < rank_; ++axis)
      if (std::ranges::find(chosen_, axis, &Chosen::axis) == chosen_.end()) rest.push_back(axis);
    order.insert(order.end(), rest.begin(), rest.end());
    if (!std::ranges::is_sorted(order))
      data_ = node_.write("Transpose", {data_}, {attribute("perm", order)});
    Names places;
    for (const Chosen& one : chosen_) places.push_back(one.places);
    data_ = node_.write("GatherND", {data_, joined_places(node_, places)});
    const std::int64_t first = chosen_.front().axis, count = chosen_.back().axis - first + 1;
    if (first > 0 && count == static_cast<std::int64_t>(chosen_.size()))
      bring_to(first, static_cast<std::int64_t>(rest.size()));
  }

  /// Puts the broadcast dimensions, which stand in front, behind `before` others.
  void bring_to(std::int64_t before, std::int64_t others) {
    const std::int64_t count = std::ranges::max(chosen_, {}, &Chosen::rank).rank;
    Integers order(static_cast<std::size_t>(count + others));
    std::iota(order.begin(), order.end(), 0);
    std::rotate(order.begin(), order.begin() + count, order.begin() + count + before);
    data_ = node_.write("Transpose", {data_}, {attribute("perm", order)});
  }

  NodeWriter& node_;
  std::string data_;
  std::int64_t rank_, axis_ = 0;
  std::vector<Chosen> chosen_;
};

bool is_ellipsis(const ir::Value& item) {
  return item.kind() == ir::Value::Kind::string && item.as_string() == "...";
}

/// The items of a list that a slice of Python takes.
std::vector<std::size_t> items_of_slice(NodeWriter& node, const ir::Value& slice,
                                        std::int64_t count) {
  const auto bound = [&](std::size_t i, std::int64_t otherwise) {
    const ir::Value& given = slice.items().at(i);
    if (given.is_none()) return otherwise;
    if (given.kind() != ir::Value::Kind::integer) node.refuse("its slice must be constant");
    return given.as_int();
  };
  const std::int64_t step = bound(2, 1);
  if (step < 1) node.refuse("its slice goes backwards");
  std::vector<std::size_t> items;
  const std::int64_t end = std::min(NodeWriter::axis(bound(1, count), count), count);
  for (std::int64_t i = std::max<std::int64_t>(0, NodeWriter::axis(bound(0, 0), count)); i < end;
       i += step)
    items.push_back(static_cast<std::size_t>(i));
  return items;
}

/// The items of a list or dict that an index takes: one, or those of a slice.
std::vector<std::size_t> indexed_items(NodeWriter& node, const ir::ValueInfo& list) {
  const ir::Value& index = *node.find("index");
  const auto count = static_cast<std::int64_t>(list.elements.size());
  if (index.kind() == ir::Value::Kind::slice) return items_of_slice(node, index, count);
  const auto key = std::ranges::find(list.keys, node.text("index", ""));
  if (key != list.keys.end()) return {static_cast<std::size_t>(key - list.keys.begin())};
  const std::int64_t i = NodeWriter::axis(node.integer("index", 0), count);
  if (i < 0 || i >= count) node.refuse("its index is outside of the list");
  return {static_cast<std::size_t>(i)};
}

/// The values of a list's items, which may be lists themselves.
void items_of_list(NodeWriter& node, const ir::ValueInfo& list) {
  const Names all = node.values(node.find("value")->node());
  Names values;
  for (const std::size_t item : indexed_items(node, list)) {
    std::size_t first = 0;
    for (std::size_t before = 0; before < item; ++before) first += leaves(list.elements[before]);
    for (std::size_t k = first; k < first + leaves(list.elements[item]); ++k)
      values.push_back(all.at(k));
  }
  if (values.size() == 1) return node.finish("Identity", values);
  for (std::string& value : values) value = node.write("Identity", {value});
  node.finish_as(values);
}

void getitem(NodeWriter& node) {
  const ir::Value* index = node.find("index");
  if (!index) node.refuse("it has no index");
  const ir::ValueInfo& whole = node.info("value");
  if (!whole.is_tensor()) return items_of_list(node, whole);
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
  Indexing indexing(node, node.tensor("value"), node.rank("value"));
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
  Indexing indexing(node, node.tensor("self"), node.rank("self"));
  indexing.apply(items);
  indexing.finish();
}

void gather(NodeWriter& node) {
  const std::int64_t axis = NodeWriter::axis(node.integer("dim", 0), node.rank("self"));
  node.finish("GatherElements", {node.tensor("self"), node.tensor("index")}, {along(axis)});
}

void index_select(NodeWriter& node) {
  const std::int64_t axis = NodeWriter::axis(node.integer("dim", 0), node.rank("self"));
  node.finish("Gather", {node.tensor("self"), node.tensor("index")}, {along(axis)});
}

/// What ONNX calls the way in which values join those that are there.
std::string reduction_of(NodeWriter& node) {
  constexpr std::pair<std::string_view, std::string_view> names[] = {
      {"", "none"},        {"sum", "add"},  {"add", "add"}, {"prod", "mul"},
      {"multiply", "mul"}, {"amax", "max"}, {"amin", "min"}};
  const std::string given = node.text("reduce", "");
  for (const auto& [aten, name] : names)
    if (aten == given) return std::string(name);
  node.refuse("ONNX has no reduction '" + given + "'");
}

void scatter(NodeWriter& node) {
  if (node.has("reduce") && !node.flag("include_self", true))
    node.refuse("it leaves out what is there where it writes");
  const std::int64_t axis = NodeWriter::axis(node.integer("dim", 0), node.rank("self"));
  const std::string places = node.tensor("index");
  const std::string values = node.has("src")
                                 ? node.tensor("src")
                                 : node.write("Expand", {node.operand("value", node.result_dtype()),
                                                         node.write("Shape", {places})});
  node.finish("ScatterElements", {node.tensor("self"), places, values},
              {along(axis), attribute("reduction", reduction_of(node))});
}

/// Values at the places that the indices of the first dimensions say.
void index_put(NodeWriter& node) {
  const ir::Value* indices = node.find("indices");
  const auto is_tensor = [&](const ir::Value& one) {
    return one.is_node() && node.dtype_of(one) != DType::boolean;
  };
  if (!indices || indices->is_node() || !std::ranges::all_of(indices->items(), is_tensor))
    node.refuse("its indices are not tensors of places in the first dimensions");
  Names places;
  for (const ir::Value& one : indices->items())
    places.push_back(node.operand_of(one, DType::int64));
  const std::string x = node.tensor("self"), joined = joined_places(node, places);
  const auto count = static_cast<std::int64_t>(places.size());
  const std::string shape =
      node.write("Concat",
                 {node.write("Shape", {joined}, {attribute("end", std::int64_t{-1})}),
                  node.shape_part(x, count, node.rank("self"))},
                 {along(0)});
  const std::string values = node.write("Expand", {node.tensor("values"), shape});
  const std::string reduction = node.flag("accumulate", false) ? "add" : "none";
  node.finish("ScatterND", {x, joined, values}, {attribute("reduction", reduction)});
}

/// The places of the slice along its dimension, in the shape of what is written there.
void slice_scatter(NodeWriter& node) {
  const std::int64_t rank = node.rank("self");
  const std::int64_t axis = NodeWriter::axis(node.integer("dim", 0), rank);
  const std::string x = node.tensor("self"), source = node.tensor("src");
  const std::string size =
      node.write("Squeeze", {node.shape_part(x, axis, axis + 1), node.ints({0})});
  const std::string all =
      node.write("Range", {node.scalar(0, DType::int64), size, node.scalar(1, DType::int64)});
  Names operands = slice_operands(node, node.find("start"), node.find("end"), node.find("step"), 0);
  with_data(operands, all);
  std::string places = node.write("Slice", operands);
  Integers others;
  for (std::int64_t other = 0; other < rank; ++other)
    if (other != axis) others.push_back(other);
  if (!others.empty()) places = node.unsqueezed(places, others);
  places = node.write("Expand", {places, node.write("Shape", {source})});
  node.finish("ScatterElements", {x, places, source}, {along(axis)});
}

}  // namespace

std::vector<ExportRow> exported_indexing() {
  return {
      {"mase::getitem", getitem},
      {"aten::slice", slice},
      {"aten::narrow", narrow},
      {"aten::select", select},
      {"aten::index", index},
      {"aten::gather", gather},
      {"aten::index_select", index_select},
      {"aten::scatter", scatter},
      {"aten::scatter_reduce", scatter},
      {"aten::scatter_add",
       [](NodeWriter& node) {
         const std::int64_t axis = NodeWriter::axis(node.integer("dim", 0), node.rank("self"));
         node.finish("ScatterElements",
                     {node.tensor("self"), node.tensor("index"), node.tensor("src")},
                     {along(axis), attribute("reduction", std::string("add"))});
       }},
      {"aten::index_put", index_put},
      {"aten::slice_scatter", slice_scatter},
  };
}

}  // namespace mase::onnx
