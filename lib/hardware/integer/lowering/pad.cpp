// SPDX-License-Identifier: Apache-2.0
// Lowering of padding. Constants are put around rows of the stream as they pass, one dimension
// after another; what repeats elements of the frame is a gather.
#include "hardware/integer/lowering/pad.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/text.hpp"
#include "hardware/integer/lowering/arithmetic.hpp"
#include "hardware/integer/lowering/lowering_table.hpp"
#include "hardware/integer/lowering/movement.hpp"

namespace mase::integer {
namespace {

/// Refuses a number that is not a code of a type, with what would do in its place.
[[noreturn]] void refuse_number(double value, const FixedType& type) {
  if (std::isnan(value)) throw Refusal{"its value is NaN, which is not a code; give it a number"};
  const double code = std::clamp(std::nearbyint(std::ldexp(value, type.frac)),
                                 static_cast<double>(type.low()), static_cast<double>(type.high()));
  throw Refusal{
      "its value " + double_text(value) + " is not a code of its input, whose format is " +
      format_text(Grid{type}) + ", as " + double_text(std::ldexp(code, -type.frac)) +
      " is; or give all its readers one data_in format of fixed point, \"integer(8, 4)\", "
      "say (pass quantize), to which the value is then rounded"};
}

}  // namespace

Filled filled(const Call& call, StreamView x, double value) {
  const FixedType type = call.lowering.value(x.id).type;
  auto grid = call.lowering.target(call.node);
  // Readers round to levels what stands between levels.
  const auto asked = call.lowering.asked_levels(call.node);
  const Levels* levels = call.lowering.levels(x.id);
  if (asked && levels && *asked == *levels) grid = grid_of_levels(asked);
  const double exact = std::ldexp(value, type.frac);
  const bool whole = exact == std::nearbyint(exact) && std::abs(exact) < 0x1p31;
  if (std::isnan(value) || (!grid && !whole)) refuse_number(value, type);
  const Wide code = grid ? code_of(value, *grid) : static_cast<Wide>(exact);
  const Interval range = hull(interval_of(type), {code, code});
  x = call.lowering.widened(x, type_for(range.low, range.high, type.frac), call.node);
  return {x, static_cast<std::int64_t>(code)};
}

namespace {

using Index = std::int64_t;

Index reflected(Index place, Index size) {
  if (place < 0) place = -place;
  return place < size ? place : 2 * (size - 1) - place;
}

/// Where a place outside of [0, size) is read, by torch's mode.
Index padded_place(std::string_view mode, Index place, Index size) {
  if (place >= 0 && place < size) return place;
  if (mode == "reflect") return reflected(place, size);
  if (mode == "replicate") return std::clamp<Index>(place, 0, size - 1);
  if (mode == "circular") return (place % size + size) % size;
  return outside;
}

/// Torch's list: [before, after] of the last dimension, then of the one before it.
Pads pads_of(const Call& call, std::string_view argument, std::size_t rank) {
  const ir::Value* given = call.find(argument);
  if (!given || given->kind() != ir::Value::Kind::list)
    throw Refusal{"its padding is not a constant list"};
  std::vector<Index> list = call.integers(argument, given->items().size(), {});
  if (list.size() == 2 * (rank + 1) && list.back() == 0 && list.end()[-2] == 0)
    list.resize(2 * rank);  // nothing around the batch
  if (list.size() % 2 != 0 || list.size() / 2 > rank)
    throw Refusal{"it pads the batch, or its padding is not a list of pairs"};
  Pads pads{Shape(rank, 0), Shape(rank, 0)};
  for (std::size_t i = 0; i < list.size() / 2; ++i) {
    pads.before[rank - 1 - i] = list[2 * i];
    pads.after[rank - 1 - i] = list[2 * i + 1];
  }
  return pads;
}

/// A step and the torch shape of the frame behind it.
struct PadStep {
  Operation operation;
  Shape shape;
};

/// One dimension of a frame, of `outer` rows of `size` times `inner` elements.
struct Row {
  Index outer, size, inner, last;  ///< last: the stream's innermost dimension
};

Insert inserted(const Row& row, Index before, Index after, Index code) {
  Insert insert{row.outer, before * row.inner, after * row.inner};
  const Index alike = std::gcd(std::gcd(insert.before, insert.after), row.last);
  insert.codes.assign(at(alike), code);
  return insert;
}

void append_steps(std::vector<PadStep>& steps, Row row, Shape& shape, std::size_t dim,
                  const Pads& pads, Index code) {
  const Index before = pads.before[dim], after = pads.after[dim];
  if (before < 0 || after < 0) {
    const Index left = std::min<Index>(before, 0), right = std::min<Index>(after, 0);
    shape[dim] += left + right;
    if (shape[dim] < 1) throw Refusal{"it leaves nothing of a dimension"};
    steps.push_back(
        {Slice{-left * row.inner, shape[dim] * row.inner, row.size * row.inner}, shape});
    row.size = shape[dim];
  }
  if (before <= 0 && after <= 0) return;
  shape[dim] += std::max<Index>(before, 0) + std::max<Index>(after, 0);
  const Insert insert = inserted(row, std::max<Index>(before, 0), std::max<Index>(after, 0), code);
  steps.push_back({insert, shape});
}

/// The steps over a frame, the innermost dimension of the stream first. `last`: torch's dimension 0
/// is that, else the order is torch's own.
std::vector<PadStep> pad_steps(Shape shape, const Pads& pads, Index code, bool channels_last) {
  std::vector<std::size_t> dims(shape.size());
  std::iota(dims.begin(), dims.end(), 0);
  if (channels_last) std::ranges::rotate(dims, dims.begin() + 1);
  std::vector<PadStep> steps;
  for (std::size_t i = dims.size(); i-- > 0;) {
    Row row{1, shape[dims[i]], 1, shape[dims.back()]};
    for (std::size_t j = 0; j < dims.size(); ++j)
      if (j != i) (j < i ? row.outer : row.inner) *= shape[dims[j]];
    append_steps(steps, row, shape, dims[i], pads, code);
  }
  return steps;
}

/// Steps that keep no frame, where the stream's order is one of rows.
Operand constants_around(const Call& call, const StreamView& x, const Pads& pads, Index code) {
  const bool last = is_channels_last(x.layout);
  const FixedType type = call.lowering.value(x.id).type;
  StreamView result = x;
  std::vector<PadStep> steps = pad_steps(x.layout.torch_shape, pads, code, last);
  if ((steps.empty() ? x.layout.torch_shape : steps.back().shape) != call.frame_shape())
    throw Refusal{"its padding does not give a result of shape " +
                  shape_text(call.node.info.shape)};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    auto& [operation, shape] = steps[i];
    Layout layout = last ? channels_last(shape) : row_major(shape);
    result = i + 1 == steps.size()
                 ? emit_moved(call, std::move(operation), {result.id}, type, std::move(layout))
                 : call.lowering.emit_before(call.node, "inner", std::move(operation), {result.id},
                                             {interval_of(type), type.frac}, unchanged(type),
                                             std::move(layout));
  }
  return result;
}

Operand pad(const Call& call, std::string_view argument, const std::string& mode) {
  const StreamView x = call.stream("self");
  const Shape frame = x.layout.torch_shape;
  const Pads pads = pads_of(call, argument, frame.size());
  const double value = call.number("value", 0.0);
  if (mode == "constant" && is_in_rows(x.layout)) {
    const Filled with = filled(call, on_result_grid(call, x), value);
    return constants_around(call, with.x, pads, with.code);
  }
  return moved_dims(
      call, x,
      [&](std::size_t d, Index c) { return padded_place(mode, c - pads.before[d], frame[d]); },
      value);
}

Operand lower_pad(const Call& call) {
  const ir::Value* mode = call.find("mode");
  return pad(call, "pad", mode ? mode->as_string() : "constant");
}

bool pads_with_zeros(const Call& call) {
  const std::string op = op_of(call.lowering.graph(), call.node);
  if (op != "pad" && op != "constant_pad_nd") return false;
  const ir::Value *mode = call.find("mode"), *value = call.find("value");
  const bool zero = !value || *value == ir::Value(0) || *value == ir::Value(0.0);
  return zero && (!mode || mode->as_string() == "constant") && call.node.formats.empty();
}

}  // namespace

std::optional<ZerosAround> zeros_around(const Call& reader, const ir::Value& value) {
  if (!value.is_node()) return std::nullopt;
  const Call call{reader.lowering, reader.lowering.graph().node(value.node())};
  const ir::Value *input = call.node.find("self"), *sizes = call.node.find("pad");
  if (!input || !sizes || !pads_with_zeros(call)) return std::nullopt;
  bool known = sizes->kind() == ir::Value::Kind::list;
  sizes->for_each_node([&](ir::NodeId) { known = false; });
  if (!known || !call.node.info.is_tensor()) return std::nullopt;
  return ZerosAround{*input, pads_of(call, "pad", call.frame_shape().size())};
}

std::vector<LoweringRow> pad_rows() {
  return {
      {"pad", lower_pad, true, Factors::none},
      {"constant_pad_nd", [](const Call& call) { return pad(call, "pad", "constant"); }, true,
       Factors::none},
      {"reflection_pad1d", [](const Call& call) { return pad(call, "padding", "reflect"); }, true},
      {"reflection_pad2d", [](const Call& call) { return pad(call, "padding", "reflect"); }, true},
      {"replication_pad1d", [](const Call& call) { return pad(call, "padding", "replicate"); },
       true},
      {"replication_pad2d", [](const Call& call) { return pad(call, "padding", "replicate"); },
       true},
  };
}

}  // namespace mase::integer
