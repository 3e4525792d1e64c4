// SPDX-License-Identifier: Apache-2.0
// Lowering of pooling by maximum and average.
#include <algorithm>

#include "hardware/integer/lowering.hpp"

namespace mase::integer {
namespace {

StreamView pooled_input(const Call& call, std::size_t dims) {
  const StreamView x = call.stream("self");
  if (x.layout.torch_shape.size() != dims + 1)
    throw Refusal{"it needs a batch of [channels, size...] as input"};
  return call.lowering.reordered(x, channels_last(x.layout.torch_shape), call.node, "data_in");
}

/// The axes of a pool over torch [C, spatial...], by its arguments.
std::vector<Axis> axes_of(const Call& call, const Shape& frame) {
  const std::size_t dims = frame.size() - 1;
  const Shape kernel = call.integers("kernel_size", dims, {});
  if (kernel.empty()) throw Refusal{"argument 'kernel_size' is missing"};
  const Shape stride = call.integers("stride", dims, kernel), ones(dims, 1);
  const Shape padding = call.integers("padding", dims, Shape(dims, 0));
  const Shape dilation = call.integers("dilation", dims, ones);
  const bool ceil = call.flag("ceil_mode", false);
  std::vector<Axis> axes;
  for (std::size_t d = 0; d < dims; ++d) {
    if (padding[d] < 0 || padding[d] > kernel[d] / 2)
      throw Refusal{"its padding is more than half of its kernel"};
    const Axis axis{frame[d + 1], kernel[d], stride[d], dilation[d], padding[d]};
    axes.push_back(slid(axis, padding[d], ceil));
  }
  return axes;
}

/// Whether every window of the axis has its whole kernel in the image and its padding.
bool complete(const Axis& axis) { return axis.last() + axis.reach() <= axis.size + 2 * axis.pad; }

/// Whether every window of the axis has a tap inside the image.
bool meets_image(const Axis& axis) {
  for (std::int64_t o = 0; o < axis.out; ++o) {
    bool inside = false;
    for (std::int64_t k = 0; k < axis.kernel && !inside; ++k) {
      const std::int64_t place = o * axis.stride + k * axis.dilation - axis.pad;
      inside = place >= 0 && place < axis.size;
    }
    if (!inside) return false;
  }
  return true;
}

Operand emit_pool(const Call& call, const StreamView& x, PoolKind kind,
                  const std::vector<Axis>& axes, std::int64_t divisor) {
  const Pool pool{kind, window_over(x.layout.torch_shape, axes)};
  check_window(call, pool.window, pool.window.channels);
  const FixedType& type = call.lowering.value(x.id).type;
  Accumulator accumulator{interval_of(type), type.frac, divisor};
  if (kind == PoolKind::sum)
    accumulator.range = product(accumulator.range, {pool.window.kernel(), pool.window.kernel()});
  return call.lowering.emit(call.node, pool, {x.id}, accumulator,
                            channels_last(call.frame_shape()));
}

Operand lower_max_pool(const Call& call, std::size_t dims) {
  const StreamView x = pooled_input(call, dims);
  const std::vector<Axis> axes = axes_of(call, x.layout.torch_shape);
  if (!std::ranges::all_of(axes, meets_image))
    throw Refusal{"one of its windows lies wholly in the padding, where the maximum is -inf"};
  return emit_pool(call, x, PoolKind::max, axes, 1);
}

Operand lower_average_pool(const Call& call, std::size_t dims) {
  const StreamView x = pooled_input(call, dims);
  const std::vector<Axis> axes = axes_of(call, x.layout.torch_shape);
  const bool padded = std::ranges::any_of(axes, [](const Axis& axis) { return axis.pad > 0; });
  const bool counts_padding = !padded || call.flag("count_include_pad", true);
  std::int64_t count = 1;
  for (const Axis& axis : axes) count *= axis.kernel;
  const std::int64_t divisor = call.integer("divisor_override", count);
  if (divisor < 1) throw Refusal{"a divisor below 1 has no datapath"};
  if (!call.find("divisor_override")) {
    if (!counts_padding)
      throw Refusal{"windows at the border have divisors of their own; set count_include_pad"};
    if (!std::ranges::all_of(axes, complete))
      throw Refusal{
          "ceil_mode adds incomplete windows here, which have divisors of their own; use a size "
          "that the stride divides"};
  }
  return emit_pool(call, x, PoolKind::sum, axes, divisor);
}

/// Adaptive pools have equal windows where the output size divides the input size.
Operand lower_adaptive_pool(const Call& call, std::size_t dims, PoolKind kind) {
  const StreamView x = pooled_input(call, dims);
  const Shape in = x.layout.torch_shape, out = call.frame_shape();
  if (out.size() != in.size()) throw Refusal{"its result does not keep the dimensions"};
  std::vector<Axis> axes;
  std::int64_t count = 1;
  for (std::size_t d = 1; d <= dims; ++d) {
    if (out[d] < 1 || in[d] % out[d] != 0)
      throw Refusal{"its output size does not divide its input size, so its windows differ"};
    axes.push_back(tiled(in[d], out[d]));
    count *= axes.back().kernel;
  }
  return emit_pool(call, x, kind, axes, kind == PoolKind::sum ? count : 1);
}

/// LibTorch gives the maxima and their places: only the first part has codes.
Operand lower_adaptive_max_pool(const Call& call, std::size_t dims) {
  const Operand result = lower_adaptive_pool(call, dims, PoolKind::max);
  const auto& stream = std::get<StreamView>(result);
  return std::vector<Part>{{stream, 0, 0, stream.layout.torch_shape[0]}};
}

}  // namespace

Axis slid(Axis axis, std::int64_t pad_after, bool ceil) {
  if (axis.kernel < 1 || axis.stride < 1 || axis.dilation < 1)
    throw Refusal{"its kernel, stride or dilation is less than 1"};
  const std::int64_t room = axis.size + axis.pad + pad_after - axis.reach();
  if (room < 0) throw Refusal{"its kernel does not fit its input"};
  axis.out = room / axis.stride + 1;
  const bool incomplete = room % axis.stride != 0;
  if (ceil && incomplete && axis.out * axis.stride < axis.size + axis.pad) ++axis.out;
  return axis;
}

Axis tiled(std::int64_t size, std::int64_t count) {
  const std::int64_t kernel = size / count;
  return {size, kernel, kernel, 1, 0, count};
}

Window window_over(const Shape& frame, const std::vector<Axis>& axes) {
  Window window;
  window.channels = frame.at(0);
  window.y = axes.at(0);
  if (axes.size() > 1) window.x = axes[1];
  return window;
}

void check_window(const Call& call, const Window& window, std::int64_t outputs) {
  Shape shape = call.frame_shape();
  if (shape.size() == 2) shape.push_back(1);
  if (shape != Shape{outputs, window.y.out, window.x.out})
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
  };
}

}  // namespace mase::integer
