// SPDX-License-Identifier: Apache-2.0
// Lowering of pooling by maximum and average.
#include "hardware/integer/lowering/window.hpp"

#include <algorithm>
#include <numeric>

#include "hardware/integer/lowering/lowering_table.hpp"
#include "hardware/integer/lowering/matrix.hpp"
#include "hardware/integer/lowering/movement.hpp"

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

/// The pool over an image of these axes, and its accumulator.
struct PoolStep {
  Pool pool;
  Accumulator accumulator;
};

PoolStep pool_of(const Call& call, const StreamView& x, PoolKind kind,
                 const std::vector<Axis>& axes, std::int64_t divisor) {
  const Pool pool{kind, window_over(x.layout.torch_shape, axes)};
  check_window(call, pool.window, pool.window.channels);
  const FixedType& type = call.lowering.value(x.id).type;
  Accumulator accumulator{interval_of(type), type.frac, divisor};
  if (kind == PoolKind::sum)
    accumulator.range = product(accumulator.range, {pool.window.kernel(), pool.window.kernel()});
  return {pool, accumulator};
}

Operand emit_pool(const Call& call, const StreamView& x, PoolKind kind,
                  const std::vector<Axis>& axes, std::int64_t divisor) {
  const PoolStep step = pool_of(call, x, kind, axes, divisor);
  return call.lowering.emit(call.node, step.pool, {x.id}, step.accumulator,
                            channels_last(call.frame_shape()));
}

/// How many elements the windows of each axis count, window by window.
using Counts = std::vector<Shape>;

/// What torch divides the sum of each window by, in raster order.
Shape divisors_of(const Counts& counts) {
  Shape divisors{1};
  for (const Shape& axis : counts) {
    Shape longer;
    for (const std::int64_t outer : divisors)
      for (const std::int64_t count : axis) longer.push_back(outer * count);
    divisors = std::move(longer);
  }
  return divisors;
}

/// A number that all divisors divide.
std::int64_t common_multiple(const Shape& divisors) {
  std::int64_t multiple = 1;
  for (const std::int64_t divisor : divisors) {
    multiple = std::lcm(multiple, divisor);
    if (multiple > std::int64_t{1} << 30)
      throw Refusal{"its windows have too many different divisors; set count_include_pad"};
  }
  return multiple;
}

/// Sums divided window by window. Where divisors differ, sums are first brought to a common
/// denominator, so that the quotient is rounded once.
Operand emit_average(const Call& call, const StreamView& x, const std::vector<Axis>& axes,
                     const Counts& counts) {
  const Shape divisors = divisors_of(counts);
  const std::int64_t multiple = common_multiple(divisors);
  if (std::ranges::all_of(divisors, [&](std::int64_t one) { return one == multiple; }))
    return emit_pool(call, x, PoolKind::sum, axes, multiple);
  const PoolStep step = pool_of(call, x, PoolKind::sum, axes, 1);
  const StreamView sums =
      call.lowering.emit_before(call.node, "sum", step.pool, {x.id}, step.accumulator,
                                exactly(step.accumulator.range), channels_last(call.frame_shape()));
  Constants scale;
  for (const std::int64_t divisor : divisors)
    scale.codes.insert(scale.codes.end(), at(step.pool.window.channels), multiple / divisor);
  scale.fit(0);
  return scale_and_shift(call, sums, std::move(scale), std::nullopt, multiple);
}

Operand lower_max_pool(const Call& call, std::size_t dims) {
  const StreamView x = pooled_input(call, dims);
  const std::vector<Axis> axes = axes_of(call, x.layout.torch_shape);
  if (!std::ranges::all_of(axes, meets_image))
    throw Refusal{"one of its windows lies wholly in the padding, where the maximum is -inf"};
  return emit_pool(call, x, PoolKind::max, axes, 1);
}

/// The elements that each window of an axis counts: those of the image, or of its padding too.
Shape counts_of(const Axis& axis, bool padding) {
  Shape counts;
  for (std::int64_t o = 0; o < axis.out; ++o) {
    const std::int64_t first = o * axis.stride - axis.pad, last = first + axis.kernel;
    counts.push_back(padding ? std::min(last, axis.size + axis.pad) - first
                             : std::min(last, axis.size) - std::max<std::int64_t>(first, 0));
  }
  return counts;
}

Operand lower_average_pool(const Call& call, std::size_t dims) {
  const StreamView x = pooled_input(call, dims);
  const std::vector<Axis> axes = axes_of(call, x.layout.torch_shape);
  if (call.find("divisor_override")) {
    const std::int64_t divisor = call.integer("divisor_override", 1);
    if (divisor < 1) throw Refusal{"a divisor below 1 has no datapath"};
    return emit_pool(call, x, PoolKind::sum, axes, divisor);
  }
  const bool padding = call.flag("count_include_pad", true);
  Counts counts;
  for (const Axis& axis : axes) counts.push_back(counts_of(axis, padding));
  return emit_average(call, x, axes, counts);
}

/// The windows of an adaptive pool along one dimension.
struct AdaptiveWindows {
  Shape first, count;
  std::int64_t longest = 0;

  AdaptiveWindows(std::int64_t size, std::int64_t out) {
    for (std::int64_t o = 0; o < out; ++o) {
      first.push_back(o * size / out);
      count.push_back(((o + 1) * size + out - 1) / out - first.back());
      longest = std::max(longest, count.back());
    }
  }
};

/// The image with the windows of an adaptive pool side by side, as long as the longest: what a
/// shorter one lacks is 0 in sums, and the last element again in maxima.
StreamView spread_windows(const Call& call, const StreamView& x,
                          const std::vector<AdaptiveWindows>& windows, PoolKind kind) {
  Shape spread = x.layout.torch_shape;
  for (std::size_t d = 0; d < windows.size(); ++d)
    spread[d + 1] = windows[d].longest * static_cast<std::int64_t>(windows[d].first.size());
  const auto source = moved_elements(
      x.layout.torch_shape, spread, [&](std::size_t d, std::int64_t place) -> std::int64_t {
        if (d == 0) return place;
        const AdaptiveWindows& along = windows[d - 1];
        const std::size_t window = at(place / along.longest);
        const std::int64_t k = place % along.longest, last = along.count[window] - 1;
        if (k > last && kind == PoolKind::sum) return -1;
        return along.first[window] + std::min(k, last);
      });
  return call.lowering.moved(x, source, channels_last(spread), call.node, "self_windows");
}

Operand lower_adaptive_pool(const Call& call, std::size_t dims, PoolKind kind) {
  StreamView x = pooled_input(call, dims);
  const Shape in = x.layout.torch_shape, out = call.frame_shape();
  if (out.size() != in.size()) throw Refusal{"its result does not keep the dimensions"};
  std::vector<AdaptiveWindows> windows;
  bool tiles = true;
  for (std::size_t d = 1; d <= dims; ++d) {
    if (out[d] < 1) throw Refusal{"its result is empty"};
    windows.emplace_back(in[d], out[d]);
    tiles = tiles && in[d] % out[d] == 0;
  }
  if (!tiles) x = spread_windows(call, x, windows, kind);
  std::vector<Axis> axes;
  Counts counts;
  for (std::size_t d = 1; d <= dims; ++d) {
    axes.push_back(tiled(x.layout.torch_shape[d], out[d]));
    counts.push_back(windows[d - 1].count);
  }
  return kind == PoolKind::max ? emit_pool(call, x, kind, axes, 1)
                               : emit_average(call, x, axes, counts);
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
      {"avg_pool1d", [](const Call& call) { return lower_average_pool(call, 1); }, false,
       Factors::kept},
      {"avg_pool2d", [](const Call& call) { return lower_average_pool(call, 2); }, false,
       Factors::kept},
      {"adaptive_avg_pool1d",
       [](const Call& call) { return lower_adaptive_pool(call, 1, PoolKind::sum); }, false,
       Factors::kept},
      {"adaptive_avg_pool2d",
       [](const Call& call) { return lower_adaptive_pool(call, 2, PoolKind::sum); }, false,
       Factors::kept},
      {"adaptive_max_pool1d", [](const Call& call) { return lower_adaptive_max_pool(call, 1); },
       true},
      {"adaptive_max_pool2d", [](const Call& call) { return lower_adaptive_max_pool(call, 2); },
       true},
  };
}

}  // namespace mase::integer
