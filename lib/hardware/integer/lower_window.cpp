// SPDX-License-Identifier: Apache-2.0
// Lowering of pooling by maximum and average, and of reductions over all places of an image.
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
  const StreamView x = call.stream("self");
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

/// Refused unless it goes over all dimensions of the frame but the channels.
void check_reduced_dims(const Call& call, std::size_t rank) {
  const ir::Value* given = call.find("dim");
  std::vector<std::int64_t> dims;
  if (given && given->kind() == ir::Value::Kind::integer) dims = {given->as_int()};
  if (given && given->kind() == ir::Value::Kind::list)
    for (const ir::Value& item : given->items()) dims.push_back(item.as_int());
  std::vector<bool> reduced(rank + 1, false);
  for (const std::int64_t dim : dims) {
    const auto place = dim < 0 ? dim + static_cast<std::int64_t>(rank) + 1 : dim;
    if (place < 0 || place > static_cast<std::int64_t>(rank))
      throw Refusal{"it reduces a dimension that its input does not have"};
    reduced[at(place)] = true;
  }
  for (std::size_t d = 0; d <= rank; ++d)
    if (reduced[d] != (d >= 2))
      throw Refusal{
          "a reduction over other dimensions than all places of an image (dim = (2, 3)) has no "
          "datapath"};
}

/// A pool whose window is the whole image; the result is [channels] or [channels, 1...].
Operand lower_reduction(const Call& call, Reduction kind) {
  if (call.find("dtype")) throw Refusal{"a result of another type has no datapath"};
  const std::size_t rank = call.stream("self").layout.torch_shape.size();
  check_reduced_dims(call, rank);
  const StreamView x = pooled_input(call, rank - 1);
  const Shape& frame = x.layout.torch_shape;
  Geometry geometry;
  geometry.kernel = Shape(frame.begin() + 1, frame.end());
  geometry.stride = geometry.kernel;
  geometry.padding = Shape(geometry.kernel.size(), 0);
  const Pool pool{kind == Reduction::maximum ? PoolKind::max : PoolKind::sum,
                  window_of(frame, geometry)};
  const FixedType& type = call.lowering.value(x.id).type;
  const std::int64_t count = pool.window.kernel();
  Accumulator accumulator{interval_of(type), type.frac, kind == Reduction::mean ? count : 1};
  if (kind != Reduction::maximum) accumulator.range = product(accumulator.range, {count, count});
  const Shape result = call.frame_shape();
  return call.lowering.emit(call.node, pool, {x.id}, accumulator,
                            result.size() == 1 ? row_major(result) : channels_last(result));
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
