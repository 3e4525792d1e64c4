// SPDX-License-Identifier: Apache-2.0
// Rows that choose elements by indices, or write to them. Indices of ONNX may count from the end.
#include <algorithm>

#include "onnx/import/host.hpp"
#include "onnx/import/importer.hpp"
#include "onnx/import/quantizer.hpp"
#include "onnx/import/rows.hpp"
#include "onnx/import/steps.hpp"

namespace mase::onnx {
namespace {

/// Constant indices as int64, counted from the front; nullopt for indices that are computed.
std::optional<Array> constant_index(Call& call, std::size_t i, std::int64_t size) {
  const Array* given = call.constant(i);
  const auto known = given ? host_of(*given) : std::nullopt;
  if (!known) return std::nullopt;
  Array index(DType::int64, known->shape);
  auto to = index.mutable_span<std::int64_t>().begin();
  for (const ir::Value& item : known->items) *to++ = call.axis(item.as_int(), size);
  return index;
}

/// Indices into a dimension as int64, counted from the front.
ir::NodeId index_of(Call& call, std::size_t i, ir::NodeId data, std::int64_t dim) {
  const auto size = call.importer().worlds().fixed_size(data, static_cast<std::size_t>(dim));
  if (size)
    if (auto known = constant_index(call, i, *size)) return constant_node(call, std::move(*known));
  const ir::NodeId index = converted(call, call.tensor(i), DType::int64);
  return call.emit("aten::remainder.Scalar",
                   {{"self", ref(index)}, {"other", call.size(data, dim)}});
}

ir::Value at_dimension(std::int64_t dim, const ir::Value& index) {
  std::vector<ir::Value> indices(static_cast<std::size_t>(dim));
  indices.push_back(index);
  return ir::Value::list(std::move(indices));
}

const LayerTensors table{{"weight", 0}};

/// Rows of a table are an embedding. Constant ones, as positions are, may also be anything else, so
/// the file has to name the layer; nullopt if it does not.
std::optional<ir::Value> indices_of_rows(Call& call) {
  if (!call.constant(1)) return call.ref(1);
  auto known = constant_index(call, 1, call.shape(0)[0]);
  if (!known || !call.is_layer("aten::embedding", table)) return std::nullopt;
  return ref(constant_node(call, std::move(*known)));
}

void gather(Call& call) {
  const std::int64_t rank = call.rank(0);
  const std::int64_t axis = call.axis(call.integer("axis", 0), rank);
  if (const auto index = call.find_host(1); index && index->shape.empty())
    return call.result(call.emit(
        "aten::select.int", {{"self", call.ref(0)}, {"dim", axis}, {"index", index->items[0]}}));
  if (axis == 0 && rank == 2 && call.constant(0))
    if (const auto indices = indices_of_rows(call))
      return call.result(call.layer("aten::embedding", {{"indices", *indices}}, table));
  if (call.constant(1) && call.rank(1) == 1)
    return call.result(
        call.emit("aten::index_select", {{"self", call.ref(0)},
                                         {"dim", axis},
                                         {"index", ref(index_of(call, 1, call.tensor(0), axis))}}));
  call.result(call.emit("aten::index.Tensor",
                        {{"self", call.ref(0)}, {"indices", at_dimension(axis, call.ref(1))}}));
}

std::optional<HostTensor> host_gather(Call& call) {
  const HostTensor tensor = call.host(0);
  if (tensor.shape.size() != 1 || call.integer("axis", 0) > 0) return std::nullopt;
  std::vector<std::int64_t> places;
  for (const std::int64_t index : call.integers(1))
    places.push_back(call.axis(index, tensor.shape[0]));
  return picked(tensor, call.shape(1), places);
}

void gather_elements(Call& call) {
  const std::int64_t axis = call.axis(call.integer("axis", 0), call.rank(0));
  call.result(call.emit("aten::gather", {{"self", call.ref(0)},
                                         {"dim", axis},
                                         {"index", ref(index_of(call, 1, call.tensor(0), axis))}}));
}

/// The indices of each dimension that the last dimension of operand 1 names, after those of the
/// batch dimensions.
std::vector<ir::Value> indices_of(Call& call, std::int64_t batch_dims) {
  const ir::NodeId data = call.tensor(0);
  const std::int64_t rank = call.rank(1);
  if (rank == 0) call.wrong("its indices have no dimension");
  const ir::NodeId indices = converted(call, call.tensor(1), DType::int64);
  std::vector<ir::Value> all;
  for (std::int64_t dim = 0; dim < batch_dims; ++dim) {
    const ir::NodeId places = call.emit(
        "aten::arange", {{"end", call.size(data, dim)}, {"dtype", number_of(DType::int64)}});
    std::vector<ir::Value> sizes(static_cast<std::size_t>(rank - 1), 1);
    sizes.at(static_cast<std::size_t>(dim)) = -1;
    all.push_back(ref(reshaped(call, places, std::move(sizes))));
  }
  const std::int64_t count = fixed_size(call, indices, rank - 1);
  for (std::int64_t i = 0; i < count; ++i)
    all.push_back(ref(
        call.emit("aten::select.int", {{"self", ref(indices)}, {"dim", rank - 1}, {"index", i}})));
  return all;
}

void gather_nd(Call& call) {
  const auto indices = indices_of(call, call.integer("batch_dims", 0));
  call.result(call.emit("aten::index.Tensor",
                        {{"self", call.ref(0)}, {"indices", ir::Value::list(indices)}}));
}

/// What ATen calls a reduction of values that are written to one place; "" for none.
std::string reduction_of(Call& call) {
  const std::string reduction = call.text("reduction", "none");
  if (reduction == "none") return "";
  if (reduction == "add") return "sum";
  if (reduction == "mul") return "prod";
  if (reduction == "max") return "amax";
  if (reduction == "min") return "amin";
  call.wrong("its reduction is '" + reduction + "'");
}

ir::NodeId scattered(Call& call, ir::NodeId data, std::int64_t dim, ir::NodeId index,
                     ir::NodeId source) {
  const std::string reduction = reduction_of(call);
  std::vector<ir::Argument> args{
      {"self", ref(data)}, {"dim", dim}, {"index", ref(index)}, {"src", ref(source)}};
  if (reduction.empty()) return call.emit("aten::scatter.src", std::move(args));
  args.push_back({"reduce", reduction});
  return call.emit("aten::scatter_reduce.two", std::move(args));
}

void scatter_elements(Call& call) {
  const std::int64_t axis = call.axis(call.integer("axis", 0), call.rank(0));
  const ir::NodeId data = call.tensor(0);
  call.result(scattered(call, data, axis, index_of(call, 1, data, axis), call.tensor(2)));
}

/// Places in the flattened first dimensions.
ir::NodeId flat_places(Call& call, ir::NodeId data, const std::vector<ir::Value>& indices) {
  ir::NodeId places = ir::no_node;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const auto dim = static_cast<std::int64_t>(i);
    const ir::Value size = fixed_size(call, data, dim);
    const ir::NodeId index = combined(call, "aten::remainder", indices[i].node(), size);
    places =
        places == ir::no_node
            ? index
            : combined(call, "aten::add", combined(call, "aten::mul", places, size), ref(index));
  }
  return places;
}

/// Rows of the data, the rows that are written, and one place for each of their elements.
void scatter_nd(Call& call) {
  const ir::NodeId data = call.tensor(0);
  const auto indices = indices_of(call, 0);
  const std::string reduction = reduction_of(call);
  if (reduction.empty() || reduction == "sum")
    return call.result(call.emit("aten::index_put", {{"self", ref(data)},
                                                     {"indices", ir::Value::list(indices)},
                                                     {"values", call.ref(2)},
                                                     {"accumulate", !reduction.empty()}}));
  std::int64_t width = 1;
  for (auto dim = static_cast<std::int64_t>(indices.size()); dim < call.rank(0); ++dim)
    width *= fixed_size(call, data, dim);
  const ir::NodeId places =
      reshaped(call, flat_places(call, data, indices), {ir::Value(-1), ir::Value(1)});
  const ir::NodeId wide =
      call.emit("aten::expand", {{"self", ref(places)}, {"size", list_of({-1, width})}});
  const ir::NodeId rows = reshaped(call, data, {ir::Value(-1), ir::Value(width)});
  const ir::NodeId updates = reshaped(call, call.tensor(2), {ir::Value(-1), ir::Value(width)});
  const ir::NodeId result = scattered(call, rows, 0, wide, updates);
  call.result(reshaped(call, result, sizes_of(call, data)));
}

/// The places where a constant condition is true.
void compress(Call& call) {
  const Array* condition = call.constant(1);
  if (!condition) call.refuse("operand '" + call.node().inputs[1] + "' must be constant");
  if (condition->dtype() != DType::boolean) call.wrong("its condition has no truth values");
  std::vector<std::int64_t> places;
  std::int64_t place = 0;
  for (const bool chosen : condition->span<bool>()) {
    if (chosen) places.push_back(place);
    ++place;
  }
  ir::NodeId data = call.tensor(0);
  std::int64_t axis = 0;
  if (call.has_attribute("axis"))
    axis = call.axis(call.integer("axis", 0), call.rank(0));
  else
    data = reshaped(call, data, {ir::Value(-1)});
  const auto count = static_cast<std::int64_t>(places.size());
  const ir::NodeId index = constant_node(call, Array::from(places, {count}));
  call.result(
      call.emit("aten::index_select", {{"self", ref(data)}, {"dim", axis}, {"index", ref(index)}}));
}

/// Equal values come in the order of their places.
void top_k(Call& call) {
  const std::int64_t axis = call.axis(call.integer("axis", -1), call.rank(0));
  const auto k =
      call.opset() < 10 ? std::vector<std::int64_t>{call.integer("k", 1)} : call.integers(1);
  if (k.size() != 1) call.wrong("its k is not one number");
  const ir::NodeId sorted =
      call.emit("aten::sort.stable", {{"self", call.ref(0)},
                                      {"stable", true},
                                      {"dim", axis},
                                      {"descending", call.integer("largest", 1) != 0}});
  for (std::size_t i = 0; i < 2; ++i) {
    if (!call.wants(i)) continue;
    const ir::NodeId all = item_of(call, sorted, static_cast<std::int64_t>(i));
    call.result(
        call.emit("aten::slice.Tensor",
                  {{"self", ref(all)}, {"dim", axis}, {"start", 0}, {"end", k[0]}, {"step", 1}}),
        i);
  }
}

}  // namespace

std::vector<Row> gather_rows() {
  return {
      {"Gather", 1, moving(gather), host_gather},
      {"GatherElements", 11, gather_elements},
      {"GatherND", 11, gather_nd},
      {"Scatter", 9, scatter_elements},
      {"ScatterElements", 11, scatter_elements},
      {"ScatterND", 11, scatter_nd},
      {"Compress", 9, compress},
      {"TopK", 1, top_k},
  };
}

}  // namespace mase::onnx
