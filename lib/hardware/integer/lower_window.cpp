// SPDX-License-Identifier: Apache-2.0
// Lowering of pooling by maximum and average, and of reductions.
#include <algorithm>

#include "hardware/integer/lowering.hpp"

namespace mase::integer {
namespace {

/// A pool over torch [C, spatial...] with 1 or 2 spatial dimensions; kernel and others per
/// dimension.
struct Geometry {
  Shape kernel, stride, padding;
};

Window window_of(const Shape& frame, const Geometry& geometry) {
  Window window;
  window.channels = frame[0];
  window.height = frame[1];
  window.kernel_height = geometry.kernel[0];
  window.stride_height = geometry.stride[0];
  window.pad_height = geometry.padding[0];
  if (geometry.kernel.size() == 1) return window;
  window.width = frame[2];
  window.kernel_width = geometry.kernel[1];
  window.stride_width = geometry.stride[1];
  window.pad_width = geometry.padding[1];
  return window;
}

StreamView pooled_input(const Call& call, std::size_t dims) {
  StreamView x = call.stream("self");
  if (x.layout.torch_shape.size() != dims + 1)
    throw Refusal{"it needs a batch of [channels, size...] as input"};
  if (!is_channels_last(x.layout))
    throw Refusal{"its input is not streamed with the channels innermost"};
  return x;
}

Geometry geometry_of(const Call& call, std::size_t dims) {
  Geometry geometry;
  geometry.kernel = call.integers("kernel_size", dims, {});
  if (geometry.kernel.empty()) throw Refusal{"argument 'kernel_size' is missing"};
  geometry.stride = call.integers("stride", dims, geometry.kernel);
  geometry.padding = call.integers("padding", dims, Shape(dims, 0));
  for (std::size_t d = 0; d < dims; ++d)
    if (geometry.padding[d] > geometry.kernel[d] / 2)
      throw Refusal{"its padding is more than half of its kernel"};
  return geometry;
}

/// ceil_mode adds windows only where the last stride is not whole.
void check_ceil_mode(const Call& call, const Geometry& geometry, const Shape& frame) {
  if (!call.flag("ceil_mode", false)) return;
  for (std::size_t d = 0; d < geometry.kernel.size(); ++d)
    if ((frame[d + 1] + 2 * geometry.padding[d] - geometry.kernel[d]) % geometry.stride[d] != 0)
      throw Refusal{
          "ceil_mode adds incomplete windows here, which have no datapath; use a size "
          "that the stride divides"};
}

Operand emit_pool(const Call& call, const StreamView& x, PoolKind kind, const Geometry& geometry,
                  std::int64_t divisor) {
  const Pool pool{kind, window_of(x.layout.torch_shape, geometry)};
  check_window(call, pool.window, pool.window.channels);
  const FixedType& type = call.lowering.value(x.id).type;
  Accumulator accumulator{interval_of(type), type.frac, divisor};
  if (kind == PoolKind::sum)
    accumulator.range = product(accumulator.range, {pool.window.kernel(), pool.window.kernel()});
  return call.lowering.emit(call.node, pool, {x.id}, accumulator,
                            channels_last(call.frame_shape()));
}

Operand lower_max_pool(const Call& call, std::size_t dims) {
  for (const std::int64_t dilation : call.integers("dilation", dims, Shape(dims, 1)))
    if (dilation != 1) throw Refusal{"a dilation other than 1 has no datapath"};
  const Geometry geometry = geometry_of(call, dims);
  const StreamView x = pooled_input(call, dims);
  check_ceil_mode(call, geometry, x.layout.torch_shape);
  return emit_pool(call, x, PoolKind::max, geometry, 1);
}

Operand lower_average_pool(const Call& call, std::size_t dims) {
  const Geometry geometry = geometry_of(call, dims);
  const bool padded = geometry.padding != Shape(dims, 0);
  const std::int64_t divisor = call.integer("divisor_override", numel(geometry.kernel));
  if (divisor < 1) throw Refusal{"a divisor below 1 has no datapath"};
  if (padded && !call.flag("count_include_pad", true) && !call.find("divisor_override"))
    throw Refusal{"windows at the border have divisors of their own; set count_include_pad"};
  const StreamView x = pooled_input(call, dims);
  check_ceil_mode(call, geometry, x.layout.torch_shape);
  return emit_pool(call, x, PoolKind::sum, geometry, divisor);
}

/// Adaptive pools have equal windows where the output size divides the input size.
Operand lower_adaptive_pool(const Call& call, std::size_t dims, PoolKind kind) {
  const StreamView x = pooled_input(call, dims);
  const Shape in = x.layout.torch_shape, out = call.frame_shape();
  if (out.size() != in.size()) throw Refusal{"its result does not keep the dimensions"};
  Geometry geometry;
  for (std::size_t d = 1; d <= dims; ++d) {
    if (out[d] < 1 || in[d] % out[d] != 0)
      throw Refusal{"its output size does not divide its input size, so its windows differ"};
    geometry.kernel.push_back(in[d] / out[d]);
  }
  geometry.stride = geometry.kernel;
  geometry.padding = Shape(dims, 0);
  const std::int64_t divisor = kind == PoolKind::sum ? numel(geometry.kernel) : 1;
  return emit_pool(call, x, kind, geometry, divisor);
}

/// LibTorch gives the maxima and their places: only the first part has codes.
Operand lower_adaptive_max_pool(const Call& call, std::size_t dims) {
  const Operand result = lower_adaptive_pool(call, dims, PoolKind::max);
  const auto& stream = std::get<StreamView>(result);
  return std::vector<Part>{{stream, 0, 0, stream.layout.torch_shape[0]}};
}

/// What a reduction makes of its values.
enum class Reduction { mean, sum, maximum };

/// Which torch dimensions of a frame are reduced.
std::vector<bool> reduced_dims(const Call& call, std::size_t rank) {
  const ir::Value* given = call.find("dim");
  std::vector<std::int64_t> dims;
  if (given && given->kind() == ir::Value::Kind::integer) dims = {given->as_int()};
  if (given && given->kind() == ir::Value::Kind::list)
    for (const ir::Value& item : given->items()) dims.push_back(item.as_int());
  std::vector<bool> reduced(rank, false);
  for (const std::int64_t dim : dims) {
    const auto place = dim < 0 ? dim + static_cast<std::int64_t>(rank) : dim - 1;
    if (place < 0 || place >= static_cast<std::int64_t>(rank))
      throw Refusal{"it reduces the batch, or a dimension that its input does not have"};
    reduced[at(place)] = true;
  }
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
  Geometry geometry;
  geometry.kernel = Shape(frame.begin() + 1, frame.end());
  geometry.stride = geometry.kernel;
  geometry.padding = Shape(geometry.kernel.size(), 0);
  const Shape result = call.frame_shape();
  return {window_of(frame, geometry),
          result.size() == frame.size() ? channels_last(result) : row_major(result)};
}

/// Rows along the innermost dimension of the stream, which is torch dimension `dim`: an image of
/// one channel that is as wide as a row.
ReducingPool row_pool(const Call& call, const StreamView& x, std::size_t dim) {
  Window window;
  window.width = window.kernel_width = window.stride_width = x.layout.torch_shape[dim];
  window.height = numel(x.layout.torch_shape) / window.width;
  return {window, reshaped(with_innermost(x.layout, dim, 1), call.frame_shape())};
}

ReducingPool reducing_pool(const Call& call, const StreamView& x) {
  const std::size_t rank = x.layout.torch_shape.size();
  const std::vector<bool> reduced = reduced_dims(call, rank);
  const auto count = static_cast<std::size_t>(std::count(reduced.begin(), reduced.end(), true));
  if (rank >= 2 && rank <= 3 && count == rank - 1 && !reduced[0] && is_channels_last(x.layout))
    return image_pool(call, x);
  for (std::size_t dim = 0; dim < rank; ++dim)
    if (count == 1 && reduced[dim] && is_innermost(x.layout, dim)) return row_pool(call, x, dim);
  throw Refusal{
      "only a reduction over all places of an image, or over the innermost dimension of the stream "
      "(the channels of an image, the features of a row), has a datapath"};
}

Operand lower_reduction(const Call& call, Reduction kind) {
  if (call.find("dtype")) throw Refusal{"a result of another type has no datapath"};
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

/// aten::amax; aten::max gives places too, or compares two tensors.
Operand lower_max(const Call& call) {
  if (ir::base_op(call.node.op) != "aten::amax")
    throw Refusal{"aten::max has no datapath; amax over dimensions and maximum of two have one"};
  return lower_reduction(call, Reduction::maximum);
}

}  // namespace

void check_window(const Call& call, const Window& window, std::int64_t outputs) {
  const bool positive = window.kernel_height > 0 && window.kernel_width > 0 &&
                        window.stride_height > 0 && window.stride_width > 0 &&
                        window.pad_height >= 0 && window.pad_width >= 0;
  const bool fits = positive && window.height + 2 * window.pad_height >= window.kernel_height &&
                    window.width + 2 * window.pad_width >= window.kernel_width;
  Shape shape = call.frame_shape();
  if (shape.size() == 2) shape.push_back(1);
  if (!fits || shape != Shape{outputs, window.out_height(), window.out_width()})
    throw Refusal{"its window does not give a result of shape " + shape_text(call.node.info.shape)};
}

std::vector<LoweringRow> window_rows() {
  return {
      {"max_pool1d", [](const Call& call) { return lower_max_pool(call, 1); }, true},
      {"max_pool2d", [](const Call& call) { return lower_max_pool(call, 2); }, true},
      {"avg_pool1d", [](const Call& call) { return lower_average_pool(call, 1); }},
      {"avg_pool2d", [](const Call& call) { return lower_average_pool(call, 2); }},
      {"adaptive_avg_pool1d",
       [](const Call& call) { return lower_adaptive_pool(call, 1, PoolKind::sum); }},
      {"adaptive_avg_pool2d",
       [](const Call& call) { return lower_adaptive_pool(call, 2, PoolKind::sum); }},
      {"adaptive_max_pool1d", [](const Call& call) { return lower_adaptive_max_pool(call, 1); },
       true},
      {"adaptive_max_pool2d", [](const Call& call) { return lower_adaptive_max_pool(call, 2); },
       true},
      {"mean", [](const Call& call) { return lower_reduction(call, Reduction::mean); }},
      {"sum", [](const Call& call) { return lower_reduction(call, Reduction::sum); }},
      {"max", lower_max, true},
  };
}

}  // namespace mase::integer
