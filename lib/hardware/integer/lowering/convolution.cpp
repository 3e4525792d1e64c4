// SPDX-License-Identifier: Apache-2.0
// Lowering of convolutions.
#include "hardware/integer/lowering/convolution.hpp"

#include <algorithm>

#include "hardware/integer/lowering/lowering_table.hpp"
#include "hardware/integer/lowering/matrix.hpp"
#include "hardware/integer/lowering/pad.hpp"
#include "hardware/integer/lowering/window.hpp"

namespace mase::integer {

StreamView image_of(const Call& call, const Shape& weight, std::size_t dims) {
  StreamView x = call.stream("input");
  if (weight.size() != dims + 2 || x.layout.torch_shape.size() != dims + 1)
    throw Refusal{"it needs a batch of [channels, size...] as input"};
  return x;
}

namespace {

/// Padding before and after each spatial dimension. "same" puts what is left over behind.
struct Padding {
  Shape before, after;
};

Padding padding_of(const Call& call, const std::vector<Axis>& axes) {
  const ir::Value* value = call.find("padding");
  if (!value || value->kind() != ir::Value::Kind::string) {
    const Shape given = call.integers("padding", axes.size(), Shape(axes.size(), 0));
    return {given, given};
  }
  const std::string& mode = value->as_string();
  if (mode != "same" && mode != "valid") throw Refusal{"padding '" + mode + "' is unknown"};
  Padding padding;
  for (const Axis& axis : axes) {
    const std::int64_t all = mode == "same" ? axis.reach() - 1 : 0;
    padding.before.push_back(all / 2);
    padding.after.push_back(all - all / 2);
  }
  return padding;
}

/// The axes of a convolution over `frame` = torch [C, spatial...], around which there are zeros.
std::vector<Axis> convolution_axes(const Call& call, const Shape& frame, const Shape& weight,
                                   const Pads& zeros) {
  const std::size_t dims = frame.size() - 1;
  const Shape stride = call.integers("stride", dims, Shape(dims, 1));
  const Shape dilation = call.integers("dilation", dims, Shape(dims, 1));
  std::vector<Axis> axes;
  for (std::size_t d = 0; d < dims; ++d)
    axes.push_back({frame[d + 1] + zeros.before[d + 1] + zeros.after[d + 1], weight[d + 2],
                    stride[d], dilation[d]});
  const Padding padding = padding_of(call, axes);
  for (std::size_t d = 0; d < dims; ++d) {
    if (padding.before[d] < 0) throw Refusal{"negative padding has no datapath"};
    axes[d].pad = padding.before[d];
    axes[d] = slid(axes[d], padding.after[d]);
    axes[d].size = frame[d + 1];
    axes[d].pad += zeros.before[d + 1];
  }
  return axes;
}

/// The stream that a convolution reads, and zeros around it: those that a pad puts there are its
/// window's own padding, which is not stored.
struct Image {
  StreamView x;
  Pads zeros;
};

/// Whether every window has a pixel in it, which the hardware that slides windows needs.
bool reach_over(const Axis& axis) {
  const std::int64_t behind = axis.last() + axis.reach() - axis.pad - axis.size;
  return axis.pad < axis.reach() && behind < axis.reach();
}

/// Whether zeros around an image leave its blocks as they are: no block has several of its pixels.
bool keep_blocks(const formats::Format& format, const Shape& shape, std::size_t dims) {
  Shape tile = format.decoding(shape)->tiling->tile;
  tile.erase(tile.begin(), tile.end() - static_cast<std::ptrdiff_t>(std::min(dims, tile.size())));
  return tile.size() == dims && numel(tile) == 1;
}

/// Whether zeros may be put around the image in the format of the input, in place of around what it
/// is made of: they are zeros still (binary, for one, has none), and move no blocks.
bool takes_zeros(const Call& call, const ir::Value& padded, std::size_t dims) {
  const formats::Format* format = call.format("data_in");
  if (!format) return true;
  const Grid grid = grid_of(*format);
  if (grid.blocks)
    return keep_blocks(*grid.blocks, call.lowering.graph().node(padded.node()).info.shape, dims);
  return !grid.levels || grid.levels->code_of(0) == 0;
}

Image image_for(const Call& call, const Shape& weight, std::size_t dims) {
  const Shape none(dims + 1, 0);
  const ir::Value& input = *call.node.find("input");
  const auto zeros = zeros_around(call, input);
  if (!zeros || !takes_zeros(call, input, dims))
    return {image_of(call, weight, dims), {none, none}};
  const StreamView x = call.stream_of(zeros->input, "input");
  const bool fits = weight.size() == dims + 2 && x.layout.torch_shape.size() == dims + 1;
  // What is left out cannot be: the convolution's own padding would show it again.
  const auto left_out = [](std::int64_t count) { return count < 0; };
  const auto& [before, after] = zeros->pads;
  const bool spatial = fits && before[0] == 0 && after[0] == 0 &&
                       std::ranges::none_of(before, left_out) &&
                       std::ranges::none_of(after, left_out);
  if (spatial && std::ranges::all_of(
                     convolution_axes(call, x.layout.torch_shape, weight, zeros->pads), reach_over))
    return {x, zeros->pads};
  return {image_of(call, weight, dims), {none, none}};
}

/// Torch [outputs][channels][kernel...] to [outputs][kernel...][channels].
Codes channels_last_weights(const Codes& weight, const Shape& shape) {
  Codes result(weight.size());
  const std::int64_t channels = shape[1];
  const std::int64_t kernel = numel(Shape(shape.begin() + 2, shape.end()));
  for (std::int64_t o = 0; o < shape[0]; ++o)
    for (std::int64_t c = 0; c < channels; ++c)
      for (std::int64_t k = 0; k < kernel; ++k)
        result[at((o * kernel + k) * channels + c)] = weight[at((o * channels + c) * kernel + k)];
  return result;
}

/// `weight`: torch [outputs][channels of a group][kernel...].
Operand convolved(const Call& call, const StreamView& x, Constants weight,
                  const std::vector<Axis>& axes) {
  const FixedType type = call.lowering.value(x.id).type;
  Matrix matrix = matrix_of(call, std::move(weight), type.frac);
  const Shape shape = matrix.weight.shape;
  const Shape& frame = x.layout.torch_shape;
  Convolution convolution;
  convolution.window = window_over(frame, axes);
  convolution.outputs = shape[0];
  check_window(call, convolution.window, convolution.outputs);
  convolution.groups = call.integer("groups", 1);
  if (convolution.groups < 1 || shape[0] % convolution.groups != 0 ||
      frame[0] != shape[1] * convolution.groups)
    throw Refusal{"its weight " + shape_text(shape) + " does not fit its input"};
  convolution.weight_type = matrix.weight.type;
  convolution.weight = channels_last_weights(matrix.weight.codes, shape);
  convolution.weight_code = matrix.weight.float_code(convolution.weight);
  convolution.bias = matrix.bias.codes;
  convolution.bias_width = matrix.bias.width();
  const std::int64_t terms = numel(Shape(shape.begin() + 1, shape.end()));
  return emit_product(call, std::move(convolution), x, matrix, terms,
                      channels_last(call.frame_shape()));
}

Operand lower_convolution(const Call& call, std::size_t dims) {
  check_weights(call);
  Constants weight = call.weights();
  const auto [x, zeros] = image_for(call, weight.shape, dims);
  const Shape& frame = x.layout.torch_shape;
  const std::vector<Axis> axes = convolution_axes(call, frame, weight.shape, zeros);
  const StreamView image = call.lowering.reordered(x, channels_last(frame), call.node, "data_in");
  return convolved(call, image, std::move(weight), axes);
}

}  // namespace

std::vector<LoweringRow> convolution_rows() {
  return {
      {"conv1d", [](const Call& call) { return lower_convolution(call, 1); }, false,
       Factors::multiplied},
      {"conv2d", [](const Call& call) { return lower_convolution(call, 2); }, false,
       Factors::multiplied},
  };
}

}  // namespace mase::integer
