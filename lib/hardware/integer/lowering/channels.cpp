// SPDX-License-Identifier: Apache-2.0
// Lowering of ops that part: chunk, split, unbind, slices, indexing and select.
#include <algorithm>
#include <numeric>

#include "base/from_front.hpp"
#include "hardware/integer/lowering/call.hpp"
#include "hardware/integer/lowering/lowering_table.hpp"
#include "hardware/integer/lowering/movement.hpp"

namespace mase::integer {
namespace {

/// The elements of a part, in the order of the stream.
struct Kept {
  std::vector<std::int64_t> places;  ///< in the stream
  Layout layout;                     ///< of what is left
};

Kept kept_by(const Part& part) {
  const Layout& from = part.source.layout;
  const Shape& frame = from.torch_shape;
  Shape result = frame;
  result[part.dim] = part.count;
  const std::int64_t inner = inner_of(frame, part.dim);
  Kept kept;
  std::vector<std::int64_t> order;
  for (std::size_t i = 0; i < from.order.size(); ++i) {
    const std::int64_t element = from.order[i];
    const std::int64_t after = element / inner % frame[part.dim] - part.first;
    if (after < 0 || after % part.step != 0 || after / part.step >= part.count) continue;
    const std::int64_t outer = element / inner / frame[part.dim];
    order.push_back((outer * part.count + after / part.step) * inner + element % inner);
    kept.places.push_back(static_cast<std::int64_t>(i));
  }
  kept.layout = arranged(std::move(order), result);
  return kept;
}

/// The slice that leaves exactly these places of a frame, if they are periodic.
std::optional<Slice> periodic(const std::vector<std::int64_t>& places, std::int64_t elements) {
  std::size_t count = 1;
  while (count < places.size() && places[count] == places[0] + static_cast<std::int64_t>(count))
    ++count;
  const std::int64_t period = count < places.size() ? places[count] - places[0] : elements;
  const auto length = static_cast<std::int64_t>(count);
  if (elements % period != 0 ||
      static_cast<std::int64_t>(places.size()) != elements / period * length)
    return std::nullopt;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto index = static_cast<std::int64_t>(i);
    if (places[i] != index / length * period + places[0] + index % length) return std::nullopt;
  }
  return Slice{places[0], length, period};
}

/// A quantizer of the part acts on the whole stream as well, where other parts share it.
Operand emit_part(const Call& call, const Part& part) {
  const StreamView source = on_result_grid(call, part.source);
  const Shape& frame = source.layout.torch_shape;
  if (frame.empty() || part.count == frame[part.dim]) return source;
  if (part.count < 1) throw Refusal{"an empty part has no datapath"};
  Kept kept = kept_by({source, part.dim, part.first, part.count, part.step});
  const FixedType type = call.lowering.value(source.id).type;
  const std::int64_t elements = call.lowering.value(source.id).elements();
  if (const auto slice = periodic(kept.places, elements))
    return emit_moved(call, *slice, {source.id}, type, std::move(kept.layout));
  return emit_moved(call, gather_of(std::move(kept.places), elements), {source.id}, type,
                    std::move(kept.layout));
}

/// The dimension of the frame that an argument names.
std::size_t part_dim(const Call& call, std::string_view name, const StreamView& x) {
  const std::size_t dim = call.torch_dim(name, 0, x.layout.torch_shape.size() + 1);
  if (dim == 0) throw Refusal{"it parts the batch"};
  return dim - 1;
}

/// The parts have the sizes that the node's info says.
Operand lower_parts(const Call& call) {
  const StreamView x = call.stream("self");
  const std::size_t dim = part_dim(call, "dim", x);
  std::vector<Part> parts;
  std::int64_t first = 0;
  for (const ir::ValueInfo& info : call.node.info.elements) {
    if (!info.is_tensor() || info.shape.size() != x.layout.torch_shape.size() + 1)
      throw Refusal{"the shapes of its parts are not known"};
    parts.push_back({x, dim, first, info.shape[dim + 1]});
    first += parts.back().count;
  }
  if (first != x.layout.torch_shape[dim]) throw Refusal{"the shapes of its parts are not known"};
  return parts;
}

/// One part for each place.
Operand lower_unbind(const Call& call) {
  const StreamView x = call.stream("self");
  const std::size_t dim = part_dim(call, "dim", x);
  std::vector<Part> parts;
  for (std::int64_t i = 0; i < x.layout.torch_shape[dim]; ++i) parts.push_back({x, dim, i, 1});
  return parts;
}

/// Elements that an index leaves of one dimension: a slice, or one place.
struct Range {
  std::int64_t first = 0, count = 0, step = 1;
};

/// One place, counted from the end where it is negative.
Range place(std::int64_t index, std::int64_t size) {
  const auto found = from_front(index, at(size));
  if (!found) throw Refusal{"its index is out of range"};
  return {static_cast<std::int64_t>(*found), 1};
}

/// None for a slice of everything.
std::optional<Range> range_of(const ir::Value& item, std::int64_t size) {
  using Kind = ir::Value::Kind;
  if (item.kind() == Kind::integer) return place(item.as_int(), size);
  if (item.kind() != Kind::slice)
    throw Refusal{"indexing by anything but slices, numbers and constant tensors has no datapath"};
  const ir::Value::List& bounds = item.items();
  if (!bounds[2].is_none() && bounds[2].kind() != Kind::integer)
    throw Refusal{"its step is not constant"};
  const std::int64_t step = bounds[2].is_none() ? 1 : bounds[2].as_int();
  if (step < 1) throw Refusal{"its step is less than 1"};
  if (bounds[0].is_none() && bounds[1].is_none() && step == 1) return std::nullopt;
  const auto bound = [&](const ir::Value& value, std::int64_t otherwise) {
    if (value.is_none()) return otherwise;
    if (value.kind() != Kind::integer) throw Refusal{"its bounds are not constant"};
    const std::int64_t given = value.as_int();
    return std::clamp<std::int64_t>(given < 0 ? given + size : given, 0, size);
  };
  const std::int64_t first = bound(bounds[0], 0);
  const std::int64_t length = std::max<std::int64_t>(0, bound(bounds[1], size) - first);
  return Range{first, (length + step - 1) / step, step};
}

/// The result in the node's own shape: one place leaves its dimension out.
Operand in_result_shape(const Call& call, const Operand& part) {
  const auto& stream = std::get<StreamView>(part);
  const Shape frame = call.frame_shape();
  if (numel(frame) != numel(stream.layout.torch_shape))
    throw Refusal{"its index does not fit its input"};
  return StreamView{stream.id, reshaped(stream.layout, frame)};
}

/// The places that a constant index tensor names.
std::vector<std::int64_t> places_named(const Call& call, const ir::Value& item, std::int64_t size) {
  std::vector<std::int64_t> places = call.constant_indices(item);
  for (std::int64_t& index : places) index = place(index, size).first;
  return places;
}

/// Several dimensions chosen from, or places named one by one: dimension d keeps chosen[d].
Operand chosen_elements(const Call& call, const StreamView& x,
                        const std::vector<std::vector<std::int64_t>>& chosen) {
  Shape kept;
  for (const auto& places : chosen) kept.push_back(static_cast<std::int64_t>(places.size()));
  if (numel(kept) != numel(call.frame_shape())) throw Refusal{"its index does not fit its input"};
  const auto source = moved_elements(
      x.layout.torch_shape, kept, [&](std::size_t d, std::int64_t i) { return chosen[d][at(i)]; });
  return gathered(call, on_result_grid(call, x), source);
}

/// What an index says of each dimension: without those that add one of 1, which only shift the
/// others.
ir::Value::List items_of(const ir::Value& index) {
  const bool several = index.kind() == ir::Value::Kind::tuple;
  ir::Value::List items = several ? index.items() : ir::Value::List{index};
  std::erase_if(items, [](const ir::Value& item) { return item.is_none(); });
  return items;
}

/// What an index of a tensor leaves: of one dimension a slice, of several chosen elements.
Operand lower_tensor_index(const Call& call, const StreamView& x, const ir::Value& index) {
  const Shape& frame = x.layout.torch_shape;
  const ir::Value::List items = items_of(index);
  if (items.size() > frame.size() + 1) throw Refusal{"its index does not fit its input"};
  std::vector<Part> parts;
  std::vector<std::vector<std::int64_t>> chosen;
  for (const std::int64_t size : frame) {
    chosen.emplace_back(at(size));
    std::iota(chosen.back().begin(), chosen.back().end(), 0);
  }
  int named = 0;
  for (std::size_t d = 0; d < items.size(); ++d) {
    const ir::Value& item = items[d];
    const bool batch = d == 0;
    const std::size_t dim = batch ? 0 : d - 1;
    const std::int64_t size = batch ? 1 : frame[dim];
    if (!batch && item.is_node()) {
      chosen[dim] = places_named(call, item, size);
      if (++named > 1) throw Refusal{"two index tensors have no datapath; index one after another"};
      continue;
    }
    const auto range = range_of(item, size);
    if (!range) continue;
    if (batch) throw Refusal{"it chooses rows of the batch"};
    parts.push_back({x, dim, range->first, range->count, range->step});
    chosen[dim].resize(at(range->count));
    for (std::int64_t i = 0; i < range->count; ++i)
      chosen[dim][at(i)] = range->first + i * range->step;
  }
  if (named > 0 || parts.size() > 1) return chosen_elements(call, x, chosen);
  return in_result_shape(call, parts.empty() ? Operand(x) : emit_part(call, parts[0]));
}

Operand lower_select(const Call& call) {
  const StreamView x = call.stream("self");
  const std::size_t dim = part_dim(call, "dim", x);
  const Range range = place(call.integer("index", 0), x.layout.torch_shape[dim]);
  return in_result_shape(call, emit_part(call, {x, dim, range.first, range.count}));
}

Operand lower_getitem(const Call& call) {
  const ir::Value* value = call.node.find("value");
  const ir::Value* index = call.node.find("index");
  if (!value || !value->is_node() || !index) throw Refusal{"it indexes no tensor of the graph"};
  const Operand& operand = call.lowering.operand(value->node());
  const auto* parts = std::get_if<std::vector<Part>>(&operand);
  if (!parts) return lower_tensor_index(call, call.stream("value"), *index);
  if (index->kind() != ir::Value::Kind::integer) throw Refusal{"its index is not constant"};
  const auto count = static_cast<std::int64_t>(parts->size());
  const std::int64_t i = index->as_int() < 0 ? index->as_int() + count : index->as_int();
  if (i < 0 || i >= count) throw Refusal{"its index is out of range"};
  const Part& part = parts->at(static_cast<std::size_t>(i));
  return in_result_shape(call, emit_part(call, part));
}

/// aten::slice and aten::narrow: where it starts; the info says how many there are.
Operand lower_slice(const Call& call) {
  const StreamView x = call.stream("self");
  const std::int64_t step = call.integer("step", 1);
  if (step < 1) throw Refusal{"its step is less than 1"};
  const std::size_t dim = call.frame_dim("dim", 0, x.layout.torch_shape.size());
  const std::int64_t size = x.layout.torch_shape[dim];
  std::int64_t first = call.integer("start", 0);
  if (first < 0) first += size;
  return emit_part(
      call, {x, dim, std::clamp<std::int64_t>(first, 0, size), call.frame_shape().at(dim), step});
}

}  // namespace

std::vector<LoweringRow> channel_rows() {
  return {
      {"chunk", lower_parts, true},     {"split", lower_parts, true},
      {"getitem", lower_getitem, true}, {"select", lower_select, true},
      {"slice", lower_slice, true},     {"narrow", lower_slice, true},
      {"unbind", lower_unbind, true},
  };
}

}  // namespace mase::integer
