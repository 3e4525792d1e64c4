// SPDX-License-Identifier: Apache-2.0
// Rows of slices, parts and padding.
#include <algorithm>
#include <limits>
#include <numeric>

#include "onnx/import/host.hpp"
#include "onnx/import/importer.hpp"
#include "onnx/import/moves.hpp"
#include "onnx/import/quantizer.hpp"
#include "onnx/import/rows.hpp"
#include "onnx/import/steps.hpp"

namespace mase::onnx {
namespace {

constexpr std::int64_t endless = std::numeric_limits<std::int64_t>::max();

/// A slice along one axis. Bounds are numbers or nodes.
struct Slice {
  std::int64_t axis = 0;
  ir::Value start, end;
  std::int64_t step = 1;
};

std::vector<Slice> slices_of(Call& call) {
  const bool operands = call.opset() >= 10;
  const auto list = [&](std::size_t i, std::string_view attribute) {
    if (operands) return call.has(i) ? call.sizes(i) : std::vector<ir::Value>{};
    const auto given = call.integers(attribute).value_or(std::vector<std::int64_t>{});
    return std::vector<ir::Value>{given.begin(), given.end()};
  };
  const auto starts = list(1, "starts"), ends = list(2, "ends"), axes = list(3, "axes");
  const auto steps = operands ? list(4, "") : std::vector<ir::Value>{};
  std::vector<Slice> slices;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    Slice one{static_cast<std::int64_t>(i), starts[i], ends.at(i), 1};
    if (!axes.empty()) one.axis = axes.at(i).as_int();
    one.axis = call.axis(one.axis, call.rank(0));
    if (!steps.empty()) {
      if (steps.at(i).is_node()) call.refuse("its steps must be constant integers");
      one.step = steps[i].as_int();
    }
    if (one.step == 0) call.wrong("its step is zero");
    slices.push_back(std::move(one));
  }
  return slices;
}

/// A bound of the turned tensor: place i of n is place n - 1 - i there.
ir::Value turned_bound(Call& call, ir::NodeId node, const Slice& slice, const ir::Value& bound) {
  if (bound.is_node()) call.refuse("a slice with a negative step needs constant bounds");
  const std::int64_t place = bound.as_int();
  const auto size = call.importer().worlds().fixed_size(node, static_cast<std::size_t>(slice.axis));
  if (place < 0) {
    const std::int64_t from_behind = -1 - place;
    return size ? std::min(from_behind, *size) : from_behind;
  }
  if (!size) {
    if (place >= std::numeric_limits<std::int32_t>::max()) return 0;
    call.refuse("a slice with a negative step needs a dimension that does not vary");
  }
  return std::clamp<std::int64_t>(*size - 1 - place, 0, *size);
}

ir::NodeId sliced(Call& call, ir::NodeId node, Slice slice) {
  if (slice.step < 0) {
    const ir::Value start = turned_bound(call, node, slice, slice.start);
    const ir::Value end = turned_bound(call, node, slice, slice.end);
    node = call.emit("aten::flip", {{"self", ref(node)}, {"dims", list_of({slice.axis})}});
    slice.start = start;
    slice.end = end;
    slice.step = slice.step == std::numeric_limits<std::int64_t>::min() ? endless : -slice.step;
  }
  return call.emit("aten::slice.Tensor", {{"self", ref(node)},
                                          {"dim", slice.axis},
                                          {"start", slice.start},
                                          {"end", slice.end},
                                          {"step", slice.step}});
}

void slice(Call& call) {
  const std::vector<Slice> slices = slices_of(call);
  if (slices.empty()) return call.result(Operand(call.operand(0)));
  ir::NodeId node = call.tensor(0);
  for (const Slice& one : slices) node = sliced(call, node, one);
  call.result(node);
}

/// The places of a slice of `size` elements.
std::vector<std::int64_t> places_of(const Slice& slice, std::int64_t size) {
  const auto bound = [&](const ir::Value& given) {
    const std::int64_t place = given.as_int() < 0 ? given.as_int() + size : given.as_int();
    return slice.step > 0 ? std::clamp<std::int64_t>(place, 0, size)
                          : std::clamp<std::int64_t>(place, -1, size - 1);
  };
  std::vector<std::int64_t> places;
  const std::int64_t start = bound(slice.start), end = bound(slice.end);
  for (std::int64_t i = start; slice.step > 0 ? i < end : i > end; i += slice.step) {
    places.push_back(i);
    if (slice.step > size || slice.step < -size) break;
  }
  return places;
}

/// The elements at these places along a dimension.
HostTensor host_picked_along(const HostTensor& tensor, std::size_t dim,
                             const std::vector<std::int64_t>& chosen) {
  std::int64_t inner = 1;
  for (std::size_t i = dim + 1; i < tensor.shape.size(); ++i) inner *= tensor.shape[i];
  const std::int64_t size = tensor.shape[dim];
  const std::int64_t outer =
      size * inner == 0 ? 0 : static_cast<std::int64_t>(tensor.items.size()) / (size * inner);
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < outer; ++i)
    for (const std::int64_t place : chosen)
      for (std::int64_t k = 0; k < inner; ++k) places.push_back((i * size + place) * inner + k);
  Shape shape = tensor.shape;
  shape[dim] = static_cast<std::int64_t>(chosen.size());
  return picked(tensor, std::move(shape), places);
}

std::optional<HostTensor> host_slice(Call& call) {
  HostTensor tensor = call.host(0);
  for (const Slice& slice : slices_of(call)) {
    if (slice.start.is_node() || slice.end.is_node()) return std::nullopt;
    const auto dim = static_cast<std::size_t>(slice.axis);
    tensor = host_picked_along(tensor, dim, places_of(slice, tensor.shape.at(dim)));
  }
  return tensor;
}

std::optional<Array> fold_slice(Call& call) {
  Array array = *call.constant(0);
  for (const Slice& slice : slices_of(call)) {
    const auto dim = static_cast<std::size_t>(slice.axis);
    array = picked_along(array, dim, places_of(slice, array.shape().at(dim)));
  }
  return array;
}

/// The sizes of the parts; empty if they are so many equal parts of a size that varies.
std::vector<std::int64_t> part_sizes(Call& call, std::int64_t axis) {
  if (call.opset() >= 13 && call.has(1)) return call.integers(1);
  if (const auto given = call.integers("split")) return *given;
  const auto count = call.integer("num_outputs", static_cast<std::int64_t>(call.results()));
  const auto size =
      call.importer().worlds().fixed_size(call.tensor(0), static_cast<std::size_t>(axis));
  if (!size || count <= 0) return {};
  const std::int64_t part = (*size + count - 1) / count;
  std::vector<std::int64_t> sizes;
  for (std::int64_t i = 0, left = *size; i < count; ++i, left -= part)
    sizes.push_back(std::clamp<std::int64_t>(left, 0, part));
  return sizes;
}

void split_parts(Call& call) {
  const std::int64_t axis = call.axis(call.integer("axis", 0), call.rank(0));
  const std::vector<std::int64_t> sizes = part_sizes(call, axis);
  const auto count = static_cast<std::int64_t>(call.results());
  std::vector<ir::Argument> args{{"self", call.ref(0)}};
  if (sizes.empty())
    args.push_back({"chunks", count});
  else
    args.push_back({"split_sizes", list_of(sizes)});
  args.push_back({"dim", axis});
  const ir::NodeId parts =
      call.emit(sizes.empty() ? "aten::chunk" : "aten::split_with_sizes", std::move(args));
  for (std::int64_t i = 0; i < count; ++i)
    if (call.wants(static_cast<std::size_t>(i)))
      call.result(item_of(call, parts, i), static_cast<std::size_t>(i));
}

/// Pads of each dimension: those before it, those after it.
struct Pads {
  std::vector<std::int64_t> before, after;
};

Pads pads_of(Call& call) {
  const bool operands = call.opset() >= 11;
  const auto rank = static_cast<std::size_t>(call.rank(0));
  const auto given =
      operands ? call.integers(1) : call.integers("pads").value_or(std::vector<std::int64_t>{});
  std::vector<std::int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  if (operands && call.has(3)) axes = call.integers(3);
  if (given.size() != 2 * axes.size()) call.wrong("its pads are not two per dimension");
  Pads pads{std::vector<std::int64_t>(rank, 0), std::vector<std::int64_t>(rank, 0)};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto dim = static_cast<std::size_t>(call.axis(axes[i], static_cast<std::int64_t>(rank)));
    pads.before[dim] = given[i];
    pads.after[dim] = given[i + axes.size()];
  }
  return pads;
}

/// The pads of aten::pad: the last dimension first, without the first ones that have none.
std::vector<std::int64_t> from_last(const Pads& pads) {
  std::vector<std::int64_t> all;
  for (std::size_t i = pads.before.size(); i-- > 0;) {
    all.push_back(pads.before[i]);
    all.push_back(pads.after[i]);
  }
  while (all.size() > 2 && all[all.size() - 1] == 0 && all[all.size() - 2] == 0)
    all.resize(all.size() - 2);
  return all;
}

/// The pads with which aten::pad has this mode: it pads the last one or two dimensions less than
/// the rank, up to three. Nothing where it does not.
std::optional<std::vector<std::int64_t>> pads_of_mode(Call& call, const Pads& pads,
                                                      const std::string& mode) {
  const auto rank = static_cast<std::size_t>(call.rank(0));
  std::vector<std::int64_t> all = from_last(pads);
  if (mode == "wrap" || rank < 2 || rank > 5 || all.size() / 2 > std::min<std::size_t>(rank - 1, 3))
    return std::nullopt;
  all.resize(2 * std::max(all.size() / 2, rank - 2), 0);
  const Shape shape = call.shape(0);
  for (std::size_t i = 0; i < rank; ++i)
    if (pads.before[i] < 0 || pads.after[i] < 0 ||
        (mode == "reflect" && std::max(pads.before[i], pads.after[i]) >= shape[i]))
      return std::nullopt;
  return all;
}

ir::NodeId padded_with(Call& call, const Pads& pads, const ir::Value& value) {
  const auto all = from_last(pads);
  return call.emit(
      "aten::pad",
      {{"self", call.ref(0)}, {"pad", list_of(all)}, {"mode", "constant"}, {"value", value}});
}

/// The place from which a padded place is filled.
std::int64_t source_of(const std::string& mode, std::int64_t place, std::int64_t size) {
  if (mode == "edge") return std::clamp<std::int64_t>(place, 0, size - 1);
  if (mode == "wrap") return ((place % size) + size) % size;
  const std::int64_t period = std::max<std::int64_t>(2 * (size - 1), 1);
  const std::int64_t rest = ((place % period) + period) % period;
  return rest < size ? rest : period - rest;
}

/// Every padded dimension in turn takes its places by an index.
ir::NodeId padded_by_places(Call& call, const Pads& pads, const std::string& mode) {
  ir::NodeId node = call.tensor(0);
  for (std::size_t dim = 0; dim < pads.before.size(); ++dim) {
    if (pads.before[dim] == 0 && pads.after[dim] == 0) continue;
    const auto axis = static_cast<std::int64_t>(dim);
    const std::int64_t size = fixed_size(call, node, axis);
    if (size == 0) call.wrong("it pads a dimension of no elements");
    std::vector<std::int64_t> places;
    for (std::int64_t i = -pads.before[dim]; i < size + pads.after[dim]; ++i)
      places.push_back(source_of(mode, i, size));
    const auto count = static_cast<std::int64_t>(places.size());
    const ir::NodeId index = constant_node(call, Array::from(places, {count}));
    node = call.emit("aten::index_select",
                     {{"self", ref(node)}, {"dim", axis}, {"index", ref(index)}});
  }
  return node;
}

void pad(Call& call) {
  const std::string mode = call.text("mode", "constant");
  const Pads pads = pads_of(call);
  if (mode == "edge" || mode == "reflect")
    if (const auto all = pads_of_mode(call, pads, mode))
      return call.result(call.emit("aten::pad", {{"self", call.ref(0)},
                                                 {"pad", list_of(*all)},
                                                 {"mode", mode == "edge" ? "replicate" : mode}}));
  if (mode == "edge" || mode == "wrap" || mode == "reflect")
    return call.result(padded_by_places(call, pads, mode));
  if (mode != "constant") call.wrong("its mode is '" + mode + "'");
  double value = 0;
  if (call.opset() < 11)
    value = call.number("value", 0.0);
  else if (call.has(2))
    value = call.number(std::size_t{2});
  call.result(padded_with(call, pads, value));
}

}  // namespace

std::vector<Row> slice_rows() {
  return {
      {"Slice", 1, moving(slice), host_slice, {}, {}, fold_slice},
      {"Split", 2, moving(split_parts)},
      {"Pad", 2, pad},
  };
}

}  // namespace mase::onnx
