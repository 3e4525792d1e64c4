// SPDX-License-Identifier: Apache-2.0
// Lowering of means, sums and maxima over dimensions: pools over what becomes one element; of the
// places of maxima; and of running sums.
#include <algorithm>

#include "hardware/integer/lowering/call.hpp"
#include "hardware/integer/lowering/lowering_table.hpp"
#include "hardware/integer/lowering/row_steps.hpp"
#include "hardware/integer/lowering/window.hpp"
#include "ir/dimension_map.hpp"
#include "ir/op_table.hpp"

namespace mase::integer {
namespace {

/// What a reduction makes of its values.
enum class Reduction { mean, sum, maximum };

/// Which torch dimensions of a frame are reduced.
std::vector<bool> reduced_dims(const Call& call, std::size_t rank) {
  const auto map = ir::dimension_map(call.lowering.graph(), call.node);
  if (!map || !ir::place_of(*map, 0))
    throw Refusal{"it reduces the batch, or a dimension that its input does not have"};
  std::vector<bool> reduced;
  for (std::size_t d = 0; d < rank; ++d) reduced.push_back(!ir::place_of(*map, d + 1));
  return reduced;
}

/// A pool whose windows are what becomes one element, and the layout of the result.
struct ReducingPool {
  Window window;
  Layout layout;
};

/// The whole image, channel by channel.
ReducingPool image_pool(const Call& call, const StreamView& x) {
  const Shape& frame = x.layout.torch_shape;
  std::vector<Axis> axes;
  for (std::size_t d = 1; d < frame.size(); ++d) axes.push_back(tiled(frame[d], 1));
  const Shape result = call.frame_shape();
  return {window_over(frame, axes),
          result.size() == frame.size() ? channels_last(result) : row_major(result)};
}

std::size_t count_of(const std::vector<bool>& reduced) {
  return static_cast<std::size_t>(std::count(reduced.begin(), reduced.end(), true));
}

/// Rows of what is reduced, one after another: an image of one channel that is as wide as a row.
ReducingPool rows_pool(const Call& call, StreamView& x, const std::vector<bool>& reduced) {
  RowStream rows = in_rows(call, x, reduced);
  x = std::move(rows.x);
  const std::int64_t count = numel(rows.results.shape);
  return {Window{tiled(count, count), tiled(rows.length, 1)},
          reshaped(std::move(rows.results), call.frame_shape())};
}

ReducingPool reducing_pool(const Call& call, StreamView& x) {
  const std::size_t rank = x.layout.torch_shape.size();
  const std::vector<bool> reduced = reduced_dims(call, rank);
  if (rank >= 2 && rank <= 3 && count_of(reduced) == rank - 1 && !reduced[0] &&
      is_channels_last(x.layout))
    return image_pool(call, x);
  return rows_pool(call, x, reduced);
}

Operand lower_reduction(const Call& call, Reduction kind) {
  call.check_type();
  StreamView x = call.stream("self");
  x.layout = call.lowering.layout_of(x);
  const ReducingPool made = reducing_pool(call, x);
  const FixedType& type = call.lowering.value(x.id).type;
  const std::int64_t count = made.window.kernel();
  Accumulator accumulator{interval_of(type), type.frac, kind == Reduction::mean ? count : 1};
  if (kind != Reduction::maximum) accumulator.range = product(accumulator.range, {count, count});
  const Pool pool{kind == Reduction::maximum ? PoolKind::max : PoolKind::sum, made.window};
  return call.lowering.emit(call.node, pool, {x.id}, accumulator, made.layout);
}

/// Running sums along a dimension of a stream as it comes; nullopt where its elements do not lie
/// evenly.
std::optional<CumulativeSum> sums_along(const Layout& x, std::size_t dim) {
  const std::int64_t size = x.torch_shape[dim], stride = inner_of(x.torch_shape, dim);
  if (size == 1) return CumulativeSum{};
  const auto next = std::ranges::find(x.order, x.order.front() + stride);
  const CumulativeSum sum{size, next - x.order.begin()};
  for (std::size_t i = 0; i < x.order.size(); ++i) {
    const std::int64_t position = x.order[i] / stride % size;
    if (position != static_cast<std::int64_t>(i) / sum.inner % size) return std::nullopt;
    if (position > 0 && x.order[i] - stride != x.order[i - at(sum.inner)]) return std::nullopt;
  }
  return sum;
}

Operand lower_cumsum(const Call& call) {
  StreamView x = call.stream("self");
  x.layout = call.lowering.layout_of(x);
  const Shape frame = x.layout.torch_shape;
  const std::size_t dim = call.frame_dim("dim", 0, frame.size());
  std::optional<CumulativeSum> sum = sums_along(x.layout, dim);
  if (!sum) {
    x = call.lowering.reordered(x, row_major(frame), call.node, "self");
    sum = {frame[dim], inner_of(frame, dim)};
  }
  const FixedType& type = call.lowering.value(x.id).type;
  if (type.frac > 0 && call.node.info.dtype != DType::float32)
    throw Refusal{"it cuts fractions off before it sums, which has no datapath"};
  const Accumulator accumulator{product(interval_of(type), {1, frame[dim]}), type.frac};
  return call.lowering.emit(call.node, *sum, {x.id}, accumulator, x.layout);
}

/// The step that gives places, its input and its result.
struct Places {
  StreamView x;
  Argmax step;
  Accumulator accumulator;
  Layout layout;
};

Places places_of_maxima(const Call& call) {
  if (!call.find("dim"))
    throw Refusal{"the place in a whole tensor mixes rows of the batch; give it a dim"};
  StreamView x = call.stream("self");
  x.layout = call.lowering.layout_of(x);
  ReducingPool rows = rows_pool(call, x, reduced_dims(call, x.layout.torch_shape.size()));
  const std::int64_t row = rows.window.kernel();
  return {std::move(x), Argmax{row}, {{0, row - 1}}, std::move(rows.layout)};
}

/// Places are numbers, whatever their readers' formats: those cast.
Operand lower_argmax(const Call& call) {
  Places places = places_of_maxima(call);
  return call.lowering.emit(call.node, places.step, {places.x.id}, places.accumulator,
                            exactly(places.accumulator.range), 0, std::move(places.layout));
}

/// All of a stream as one part of several results.
Part whole(const StreamView& stream) {
  const Shape& frame = stream.layout.torch_shape;
  return {stream, 0, 0, frame.empty() ? 1 : frame[0]};
}

/// aten::amax and aten::max over dimensions, which gives places too.
Operand lower_max(const Call& call) {
  const bool pairs = call.node.info.elements.size() == 2;
  if (ir::base_op(call.node.op) != "aten::amax" && !pairs)
    throw Refusal{"aten::max of all or of two has no datapath; amax and maximum have one"};
  Operand result = lower_reduction(call, Reduction::maximum);
  if (!pairs) return result;
  Places places = places_of_maxima(call);
  const StreamView where =
      call.lowering.emit_before(call.node, "places", places.step, {places.x.id}, places.accumulator,
                                exactly(places.accumulator.range), std::move(places.layout));
  return std::vector<Part>{whole(std::get<StreamView>(result)), whole(where)};
}

}  // namespace

std::vector<LoweringRow> reduction_rows() {
  return {
      {"mean", [](const Call& call) { return lower_reduction(call, Reduction::mean); }, false,
       Factors::kept},
      {"sum", [](const Call& call) { return lower_reduction(call, Reduction::sum); }, false,
       Factors::kept},
      {"max", lower_max, true},
      {"argmax", lower_argmax},
      {"cumsum", lower_cumsum},
  };
}

}  // namespace mase::integer
