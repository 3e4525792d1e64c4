// SPDX-License-Identifier: Apache-2.0
// Lowering of ops that join and part channels: cat, chunk, split, slices, indexing and select.
#include <algorithm>

#include "hardware/integer/lowering.hpp"

namespace mase::integer {
namespace {

/// A step that only moves codes: requantisation changes nothing.
StreamView emit_moved(const Call& call, Operation operation, std::vector<ValueId> inputs,
                      const FixedType& type, Layout layout) {
  const Requantise none{0, 1, formats::Rounding::nearest_even, type.low(), type.high()};
  return call.lowering.emit(call.node, std::move(operation), std::move(inputs),
                            {interval_of(type), type.frac}, none, type.frac, std::move(layout));
}

/// A quantizer of the part acts on the whole stream as well, where other parts share it.
Operand emit_part(const Call& call, const Part& part) {
  StreamView source = part.source;
  if (const auto grid = call.lowering.target(call.node))
    source = call.lowering.cast(source, *grid, call.node, "data_in");
  if (part.count == source.layout.torch_shape[part.dim]) return source;
  if (part.count < 1) throw Refusal{"an empty part has no datapath"};
  const StreamValue& value = call.lowering.value(source.id);
  source.layout = call.lowering.layout_of(source);
  if (!is_innermost(source.layout, part.dim))
    throw Refusal{"only the channels, which are innermost in a stream, can be parted"};
  const FixedType type = value.type;
  return emit_moved(call, Slice{part.first, part.count}, {source.id}, type,
                    with_innermost(source.layout, part.dim, part.count));
}

/// The parts have the sizes that the node's info says.
Operand lower_parts(const Call& call) {
  const StreamView x = call.stream("self");
  const std::size_t dim = call.frame_dim("dim", 0, x.layout.torch_shape.size());
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

/// Elements that an index leaves of one dimension: a slice, or one place.
struct Range {
  std::int64_t first = 0, count = 0;
};

/// One place, counted from the end where it is negative.
Range place(std::int64_t index, std::int64_t size) {
  if (index < -size || index >= size) throw Refusal{"its index is out of range"};
  return {index < 0 ? index + size : index, 1};
}

/// None for a slice of everything.
std::optional<Range> range_of(const ir::Value& item, std::int64_t size) {
  using Kind = ir::Value::Kind;
  if (item.kind() == Kind::integer) return place(item.as_int(), size);
  if (item.kind() != Kind::slice)
    throw Refusal{"indexing by anything but slices and numbers has no datapath"};
  const ir::Value::List& bounds = item.items();
  if (!bounds[2].is_none() && bounds[2] != ir::Value(1))
    throw Refusal{"a step other than 1 has no datapath"};
  if (bounds[0].is_none() && bounds[1].is_none()) return std::nullopt;
  const auto bound = [&](const ir::Value& value, std::int64_t otherwise) {
    if (value.is_none()) return otherwise;
    if (value.kind() != Kind::integer) throw Refusal{"its bounds are not constant"};
    const std::int64_t given = value.as_int();
    return std::clamp<std::int64_t>(given < 0 ? given + size : given, 0, size);
  };
  const std::int64_t first = bound(bounds[0], 0);
  return Range{first, std::max<std::int64_t>(0, bound(bounds[1], size) - first)};
}

/// The result in the node's own shape: one place leaves its dimension out.
Operand in_result_shape(const Call& call, const Operand& part) {
  const auto& stream = std::get<StreamView>(part);
  const Shape frame = call.frame_shape();
  if (numel(frame) != numel(stream.layout.torch_shape))
    throw Refusal{"its index does not fit its input"};
  return StreamView{stream.id, reshaped(stream.layout, frame)};
}

/// The part of one dimension that an index of a tensor leaves: full slices but one.
Operand lower_tensor_index(const Call& call, const StreamView& x, const ir::Value& index) {
  const ir::Value::List items =
      index.kind() == ir::Value::Kind::tuple ? index.items() : ir::Value::List{index};
  if (items.size() > x.layout.torch_shape.size() + 1)
    throw Refusal{"its index does not fit its input"};
  std::optional<Part> part;
  for (std::size_t d = 0; d < items.size(); ++d) {
    const std::int64_t size = d == 0 ? 1 : x.layout.torch_shape[d - 1];
    const auto range = range_of(items[d], size);
    if (!range) continue;
    if (d == 0) throw Refusal{"it chooses rows of the batch"};
    if (part) throw Refusal{"two dimensions at once have no datapath; take two steps"};
    part = Part{x, d - 1, range->first, range->count};
  }
  return in_result_shape(call, part ? emit_part(call, *part) : Operand(x));
}

Operand lower_select(const Call& call) {
  const StreamView x = call.stream("self");
  const std::size_t dim = call.frame_dim("dim", 0, x.layout.torch_shape.size());
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
  return emit_part(call, parts->at(static_cast<std::size_t>(i)));
}

/// aten::slice and aten::narrow: where it starts; the info says how many there are.
Operand lower_slice(const Call& call, std::string_view first_argument) {
  const StreamView x = call.stream("self");
  if (call.integer("step", 1) != 1) throw Refusal{"a step other than 1 has no datapath"};
  const std::size_t dim = call.frame_dim("dim", 0, x.layout.torch_shape.size());
  const std::int64_t size = x.layout.torch_shape[dim];
  std::int64_t first = call.integer(first_argument, 0);
  if (first < 0) first += size;
  return emit_part(call,
                   {x, dim, std::clamp<std::int64_t>(first, 0, size), call.frame_shape().at(dim)});
}

/// The least type that holds the values of all streams.
FixedType common_type(const Call& call, const std::vector<StreamView>& streams) {
  int frac = call.lowering.value(streams[0].id).type.frac;
  for (const StreamView& stream : streams)
    frac = std::max(frac, call.lowering.value(stream.id).type.frac);
  Interval range;
  for (const StreamView& stream : streams) {
    const FixedType& type = call.lowering.value(stream.id).type;
    if (type.width + frac - type.frac > 124)
      throw Refusal{"its inputs' fractions are too far apart for one type"};
    range = hull(range, shifted(interval_of(type), frac - type.frac));
  }
  check_width(range, 62, "the common type of its inputs");
  return type_for(range.low, range.high, frac);
}

/// Streams of a cat, each on the grid of the result where there is one: a quantizer of the result
/// acts on every element alone.
std::vector<StreamView> cat_inputs(const Call& call) {
  const ir::Value* tensors = call.node.find("tensors");
  if (!tensors || tensors->kind() == ir::Value::Kind::node)
    throw Refusal{"it joins a list that is computed; name its tensors one by one"};
  const auto grid = call.lowering.target(call.node);
  std::vector<StreamView> streams;
  for (const ir::Value& item : tensors->items()) {
    StreamView stream = call.stream_of(item, "tensors");
    if (grid) stream = call.lowering.cast(stream, *grid, call.node, "data_in");
    streams.push_back(std::move(stream));
  }
  if (streams.empty()) throw Refusal{"it joins nothing"};
  return streams;
}

Operand lower_cat(const Call& call) {
  std::vector<StreamView> streams = cat_inputs(call);
  const std::size_t dim = call.frame_dim("dim", 0, streams[0].layout.torch_shape.size());
  const FixedType type = common_type(call, streams);
  std::vector<ValueId> inputs;
  std::int64_t channels = 0;
  const auto pixels = [&](const StreamView& stream) {
    return with_innermost(stream.layout, dim, 1);
  };
  for (StreamView& stream : streams) {
    stream.layout = call.lowering.layout_of(stream);
    if (stream.layout.torch_shape.size() <= dim || !is_innermost(stream.layout, dim))
      throw Refusal{"only the channels, which are innermost in a stream, can be joined"};
    if (pixels(stream).order != pixels(streams[0]).order ||
        pixels(stream).torch_shape != pixels(streams[0]).torch_shape)
      throw Refusal{"its inputs are streamed in different orders"};
    channels += stream.layout.torch_shape[dim];
    inputs.push_back(call.lowering.widened(stream, type, call.node).id);
  }
  if (inputs.size() == 1) return streams[0];
  return emit_moved(call, Concat{}, inputs, type, with_innermost(streams[0].layout, dim, channels));
}

}  // namespace

std::vector<LoweringRow> channel_rows() {
  return {
      {"cat", lower_cat, true},
      {"chunk", lower_parts, true},
      {"split", lower_parts, true},
      {"getitem", lower_getitem, true},
      {"select", lower_select, true},
      {"slice", [](const Call& call) { return lower_slice(call, "start"); }, true},
      {"narrow", [](const Call& call) { return lower_slice(call, "start"); }, true},
  };
}

}  // namespace mase::integer
