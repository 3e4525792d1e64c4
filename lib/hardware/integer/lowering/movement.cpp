// SPDX-License-Identifier: Apache-2.0
// Lowering of ops that give elements other places: flips, rolls, repeats, shuffles,
// nearest upsampling and chosen places. A permutation only changes how the stream is seen; what
// leaves elements out or repeats them becomes a gather.
#include "hardware/integer/lowering/movement.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/from_front.hpp"
#include "hardware/integer/lowering/lowering_table.hpp"
#include "hardware/integer/lowering/pad.hpp"
#include "hardware/integer/lowering/window.hpp"
#include "ir/op_table.hpp"

namespace mase::integer {
namespace {

using Index = std::int64_t;

// Whole dimensions.

/// The frame's dimensions that an argument names.
std::vector<std::size_t> named_dims(const Call& call, std::string_view argument, std::size_t rank) {
  const ir::Value* given = call.find(argument);
  if (!given) throw Refusal{"it moves elements across the batch"};
  const std::size_t count = given->kind() == ir::Value::Kind::integer ? 1 : given->items().size();
  if (count == 0) throw Refusal{"it moves elements across the batch; name its dimensions"};
  std::vector<std::size_t> dims;
  for (const Index dim : call.integers(argument, count, {})) {
    const auto place = from_front(dim, rank + 1);
    if (!place) throw Refusal{"it names no dimension"};
    if (*place == 0) throw Refusal{"it mixes rows of the batch"};
    dims.push_back(*place - 1);
  }
  return dims;
}

Operand lower_flip(const Call& call) {
  const StreamView x = call.stream("self");
  const Shape frame = x.layout.torch_shape;
  const std::vector<std::size_t> dims = named_dims(call, "dims", frame.size());
  return moved_dims(call, x, [&](std::size_t d, Index c) {
    return std::ranges::find(dims, d) == dims.end() ? c : frame[d] - 1 - c;
  });
}

Operand lower_roll(const Call& call) {
  const StreamView x = call.stream("self");
  const Shape frame = x.layout.torch_shape;
  const std::vector<std::size_t> dims = named_dims(call, "dims", frame.size());
  const Shape shifts = call.integers("shifts", dims.size(), {});
  if (shifts.size() != dims.size()) throw Refusal{"it moves elements across the batch"};
  std::vector<Index> shift(frame.size(), 0);
  for (std::size_t i = 0; i < dims.size(); ++i) shift[dims[i]] += shifts[i];
  return moved_dims(call, x, [&](std::size_t d, Index c) {
    return ((c - shift[d]) % frame[d] + frame[d]) % frame[d];
  });
}

/// A constant for each row of a batch is that constant; along other dimensions it is another one.
Operand repeated_constant(const Call& call, const Parameter& parameter) {
  Shape wanted = call.frame_shape();
  wanted.insert(wanted.begin(), 1);
  const Array values = call.values(parameter);
  if (numel(wanted) != values.size())
    throw Refusal{
        "it repeats a constant along other dimensions than the batch; pass fold_constants "
        "computes it"};
  if (values.shape() == wanted) return parameter;
  Parameter shaped = call.lowering.add_constant(call.node.name, values.reshaped(wanted));
  shaped.format = parameter.format;
  return shaped;
}

/// The tensor again and again along its dimensions; dimensions of 1 alike.
Operand lower_repeat(const Call& call) {
  if (const Parameter* parameter = call.parameter("self"))
    return repeated_constant(call, *parameter);
  const StreamView x = call.stream("self");
  const Shape frame = x.layout.torch_shape;
  const Shape& whole = call.node.info.shape;
  const ir::Value& self = *call.node.find("self");
  if (whole.empty() || whole[0] != call.lowering.graph().node(self.node()).info.shape[0])
    throw Refusal{"it repeats the batch"};
  return moved_dims(call, x, [&](std::size_t d, Index c) { return c % frame[d]; });
}

Operand lower_repeat_interleave(const Call& call) {
  const StreamView x = call.stream("self");
  const std::size_t dim = call.frame_dim("dim", 0, x.layout.torch_shape.size());
  const Index repeats = call.integer("repeats", 1);
  if (!call.find("dim") || repeats < 1) throw Refusal{"it needs a dimension and a number"};
  return moved_dims(call, x, [&](std::size_t d, Index c) { return d == dim ? c / repeats : c; });
}

/// torch's nearest place: exact for whole factors, else as its float32 arithmetic rounds.
Index nearest(Index c, Index in, Index out, double factor) {
  if (out % in == 0) return c / (out / in);
  const float scale = factor > 0 ? static_cast<float>(1.0 / factor)
                                 : static_cast<float>(in) / static_cast<float>(out);
  return std::min(static_cast<Index>(std::floor(static_cast<float>(c) * scale)), in - 1);
}

Operand lower_upsample(const Call& call) {
  if (!ir::base_op(call.node.op).starts_with("aten::upsample_nearest") ||
      ir::base_op(call.node.op).find("exact") != std::string::npos)
    throw Refusal{"its mode has no datapath; modes 'nearest' and 'bilinear' have one"};
  const StreamView x = call.stream("input");
  const Shape frame = x.layout.torch_shape, result = call.frame_shape();
  if (frame.size() != result.size()) throw Refusal{"its result does not keep the dimensions"};
  std::vector<double> factors(frame.size(), 0.0);
  const ir::Value* given = call.find("scale_factors");
  for (std::size_t d = 1; given && given->kind() == ir::Value::Kind::list && d < frame.size(); ++d)
    if (given->items().size() == frame.size() - 1) factors[d] = given->items()[d - 1].as_double();
  return moved_dims(call, x, [&](std::size_t d, Index c) {
    return d == 0 ? c : nearest(c, frame[d], result[d], factors[d]);
  });
}

Operand lower_index_select(const Call& call) {
  const StreamView x = call.stream("self");
  const std::size_t dim = call.frame_dim("dim", 0, x.layout.torch_shape.size());
  const ir::Value* index = call.node.find("index");
  const std::vector<Index> places = index ? call.constant_indices(*index) : std::vector<Index>();
  const Index size = x.layout.torch_shape[dim];
  for (const Index place : places)
    if (place < 0 || place >= size) throw Refusal{"its index is out of range"};
  if (call.frame_shape().at(dim) != static_cast<Index>(places.size()))
    throw Refusal{"its index does not fit its result"};
  return moved_dims(call, x, [&](std::size_t d, Index c) { return d == dim ? places[at(c)] : c; });
}

/// The windows of an image, each a column: element (c, i, j) of window (r, s).
Operand lower_im2col(const Call& call) {
  const StreamView x = call.stream("self");
  const Shape frame = x.layout.torch_shape, result = call.frame_shape();
  if (frame.size() != 3 || result.size() != 2)
    throw Refusal{"it needs a batch of [channels, height, width]"};
  const Shape ones(2, 1), kernel = call.integers("kernel_size", 2, ones);
  const Shape stride = call.integers("stride", 2, ones);
  const Shape dilation = call.integers("dilation", 2, ones);
  const Shape padding = call.integers("padding", 2, Shape(2, 0));
  std::vector<Axis> axes;
  for (std::size_t d = 0; d < 2; ++d)
    axes.push_back(slid({frame[d + 1], kernel[d], stride[d], dilation[d], padding[d]}, padding[d]));
  const Axis &y = axes[0], &x_axis = axes[1];
  if (result != Shape{frame[0] * y.kernel * x_axis.kernel, y.out * x_axis.out})
    throw Refusal{"its windows do not give its result"};
  const auto tap = [](const Axis& axis, Index o, Index k) {
    const Index place = o * axis.stride + k * axis.dilation - axis.pad;
    return place < 0 || place >= axis.size ? outside : place;
  };
  std::vector<Index> source;
  for (Index row = 0; row < result[0]; ++row)
    for (Index window = 0; window < result[1]; ++window) {
      const Index a = tap(y, window / x_axis.out, row / x_axis.kernel % y.kernel);
      const Index b = tap(x_axis, window % x_axis.out, row % x_axis.kernel);
      const Index channel = row / x_axis.kernel / y.kernel;
      source.push_back(a == outside || b == outside ? outside
                                                    : (channel * frame[1] + a) * frame[2] + b);
    }
  return gathered(call, on_result_grid(call, x), source);
}

// Shuffles.

/// Pixel (h, w) of channel c is pixel (h / r, w / r) of channel (c * r + h % r) * r + w % r.
std::vector<Index> shuffled(const Shape& result, Index r) {
  const Index height = result[1] / r, width = result[2] / r;
  std::vector<Index> source;
  for (Index c = 0; c < result[0]; ++c)
    for (Index h = 0; h < result[1]; ++h)
      for (Index w = 0; w < result[2]; ++w) {
        const Index channel = (c * r + h % r) * r + w % r;
        source.push_back((channel * height + h / r) * width + w / r);
      }
  return source;
}

Operand lower_pixel_shuffle(const Call& call) {
  const StreamView x = on_result_grid(call, call.stream("self"));
  const Shape result = call.frame_shape();
  const Index r = call.integer("upscale_factor", 1);
  if (result.size() != 3 || r < 1 || result[1] % r != 0 || result[2] % r != 0)
    throw Refusal{"it needs a batch of [channels, height, width]"};
  return gathered(call, x, shuffled(result, r));
}

Operand lower_pixel_unshuffle(const Call& call) {
  const StreamView x = on_result_grid(call, call.stream("self"));
  const Shape frame = x.layout.torch_shape;
  const Index r = call.integer("downscale_factor", 1);
  if (frame.size() != 3 || r < 1 || frame[1] % r != 0 || frame[2] % r != 0)
    throw Refusal{"it needs a batch of [channels, height, width]"};
  const std::vector<Index> back = shuffled(frame, r);
  std::vector<Index> source(back.size());
  for (std::size_t i = 0; i < back.size(); ++i) source[at(back[i])] = static_cast<Index>(i);
  return gathered(call, x, source);
}

Operand lower_channel_shuffle(const Call& call) {
  const StreamView x = call.stream("self");
  const Index channels = x.layout.torch_shape.at(0), groups = call.integer("groups", 1);
  if (groups < 1 || channels % groups != 0) throw Refusal{"its groups do not divide its channels"};
  return moved_dims(call, x, [&](std::size_t d, Index c) {
    return d == 0 ? c % groups * (channels / groups) + c / groups : c;
  });
}

}  // namespace

StreamView on_result_grid(const Call& call, const StreamView& x) {
  const auto grid = call.lowering.target(call.node);
  return grid ? call.lowering.cast(x, *grid, call.node, "data_in") : x;
}

Operand moved_dims(const Call& call, const StreamView& x, const Move& move, double value) {
  const Shape result = call.frame_shape();
  if (result.size() != x.layout.torch_shape.size())
    throw Refusal{"its result does not keep the dimensions"};
  const std::vector<Index> source = moved_elements(x.layout.torch_shape, result, move);
  const StreamView ready = on_result_grid(call, x);
  if (std::ranges::find(source, outside) == source.end()) return gathered(call, ready, source);
  const Filled with = filled(call, ready, value);
  return gathered(call, with.x, source, with.code);
}

std::vector<Index> moved_elements(const Shape& input, const Shape& result, const Move& move) {
  std::vector<Index> source;
  source.reserve(at(numel(result)));
  for (Index element = 0; element < numel(result); ++element) {
    Index rest = element, index = 0, stride = 1;
    for (std::size_t d = result.size(); d-- > 0; rest /= result[d]) {
      const Index coordinate = index == outside ? 0 : move(d, rest % result[d]);
      if (coordinate == outside) index = outside;
      if (index == outside) continue;
      index += coordinate * stride;
      stride *= input[d];
    }
    source.push_back(index);
  }
  return source;
}

StreamView emit_moved(const Call& call, Operation operation, std::vector<ValueId> inputs,
                      const FixedType& type, Layout layout) {
  return call.lowering.emit(call.node, std::move(operation), std::move(inputs),
                            {interval_of(type), type.frac}, unchanged(type), type.frac,
                            std::move(layout));
}

Operand gathered(const Call& call, const StreamView& x, const std::vector<Index>& source,
                 Index outside_code) {
  const Shape result = call.frame_shape();
  MASE_CHECK(static_cast<Index>(source.size()) == numel(result), "a source of another size");
  std::vector<Index> target(x.layout.order.size(), outside);
  bool permutes = source.size() == target.size();
  for (std::size_t i = 0; i < source.size() && permutes; ++i) {
    permutes = source[i] != outside && target[at(source[i])] == outside;
    if (permutes) target[at(source[i])] = static_cast<Index>(i);
  }
  if (permutes) {
    std::vector<Index> order;
    for (const Index element : x.layout.order) order.push_back(target[at(element)]);
    return StreamView{x.id, arranged(std::move(order), result)};
  }
  const Layout wanted = is_channels_last(x.layout) ? channels_last(result) : row_major(result);
  return emit_moved(call, gather_between(x.layout, source, wanted, outside_code), {x.id},
                    call.lowering.value(x.id).type, wanted);
}

std::vector<LoweringRow> movement_rows() {
  return {
      {"flip", lower_flip, true},
      {"roll", lower_roll, true},
      {"repeat", lower_repeat, true},
      {"tile", lower_repeat, true},
      {"expand", lower_repeat, true},
      {"repeat_interleave", lower_repeat_interleave, true},
      {"upsample", lower_upsample, true},
      {"upsample_nearest1d", lower_upsample, true},
      {"index_select", lower_index_select, true},
      {"im2col", lower_im2col, true},
      {"pixel_shuffle", lower_pixel_shuffle, true},
      {"pixel_unshuffle", lower_pixel_unshuffle, true},
      {"channel_shuffle", lower_channel_shuffle, true},
  };
}

}  // namespace mase::integer
