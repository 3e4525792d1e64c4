// SPDX-License-Identifier: Apache-2.0
// Lowering of transposed convolutions, by phases: of s * s neighbouring results, s the stride, each
// has its own taps, and the same taps as its like in the next s * s. So a convolution of stride 1
// over the image itself computes all of them as outputs of one place, which are then put beside
// each other. No zero is put between pixels, and no product is made with one that was. Bilinear
// upsampling by powers of two is one of them, with fixed weights for each channel by itself.
#include <algorithm>
#include <bit>
#include <numeric>

#include "hardware/integer/lowering/call.hpp"
#include "hardware/integer/lowering/convolution.hpp"
#include "hardware/integer/lowering/floor_divide.hpp"
#include "hardware/integer/lowering/lowering_table.hpp"
#include "hardware/integer/lowering/matrix.hpp"
#include "ir/op_table.hpp"

namespace mase::integer {
namespace {

using Index = std::int64_t;
constexpr Index none = -1;

/// One dimension of a transposed convolution, as torch has it: tap k brings pixel i to result
/// i * stride + k * dilation - pad.
struct Spread {
  Index size = 1, kernel = 1, stride = 1, dilation = 1, pad = 0, out = 1;
};

/// The same as windows over the image, each of which gives `stride` results, after `crop` that are
/// left out. Phase r of window q is result q * stride + r - crop.
struct Phases {
  Index stride = 1, crop = 0, out = 1;
  Axis window;
  std::vector<Index> taps = {0};  ///< [stride][window.kernel]: the tap of torch's kernel, or none

  /// Products of all phases of all windows.
  Index work() const { return window.kernel * window.out; }
  /// Results with those that are left out.
  Index all() const { return window.out * stride; }
};

/// Tap k belongs to the phase r with k * dilation + crop - pad = r + stride * t, and meets pixel
/// q - t: the windows' taps are the different t, from the last one on.
Phases phases_of(const Spread& spread, Index crop) {
  std::vector<Index> shifts;
  for (Index k = 0; k < spread.kernel; ++k)
    shifts.push_back(floor_divide(k * spread.dilation + crop - spread.pad, spread.stride));
  const Index last = shifts.back();
  Index step = 0;
  for (const Index t : shifts) step = std::gcd(step, last - t);
  step = std::max<Index>(step, 1);
  const Index windows = (spread.out + crop + spread.stride - 1) / spread.stride;
  const Index kernel = (last - shifts.front()) / step + 1;
  Phases phases{spread.stride, crop, spread.out, {spread.size, kernel, 1, step, last, windows}, {}};
  phases.taps.assign(at(spread.stride * kernel), none);
  for (Index k = 0; k < spread.kernel; ++k) {
    const Index t = shifts[at(k)], r = k * spread.dilation + crop - spread.pad - spread.stride * t;
    phases.taps[at(r * kernel + (last - t) / step)] = k;
  }
  return phases;
}

/// With the results left out in front that make the fewest products.
Phases fewest_products(const Spread& spread) {
  Phases best = phases_of(spread, 0);
  for (Index crop = 1; crop < spread.stride; ++crop) {
    Phases phases = phases_of(spread, crop);
    if (phases.work() < best.work()) best = std::move(phases);
  }
  return best;
}

/// Both dimensions, the second one of 1 for sequences, and how channels are grouped.
struct Plan {
  Phases y, x;
  Index groups = 1, group_inputs = 1, group_outputs = 1;

  Index phases() const { return y.stride * x.stride; }
  Index outputs() const { return groups * group_outputs; }
  bool is_plain() const { return phases() == 1; }
  /// The output of the convolution that computes an output of torch's in a phase.
  Index channel(Index output, Index phase) const {
    return (output / group_outputs * phases() + phase) * group_outputs + output % group_outputs;
  }
};

Spread spread_of(const Call& call, const Shape& frame, const Shape& weight, std::size_t d) {
  const std::size_t dims = frame.size() - 1;
  const Shape ones(dims, 1), zeros(dims, 0);
  Spread spread{frame[d + 1], weight[d + 2]};
  spread.stride = call.integers("stride", dims, ones)[d];
  spread.dilation = call.integers("dilation", dims, ones)[d];
  spread.pad = call.integers("padding", dims, zeros)[d];
  if (spread.kernel < 1 || spread.stride < 1 || spread.dilation < 1)
    throw Refusal{"its kernel, stride or dilation is less than 1"};
  const Index further = call.integers("output_padding", dims, zeros)[d];
  spread.out = (spread.size - 1) * spread.stride + (spread.kernel - 1) * spread.dilation + 1 +
               further - 2 * spread.pad;
  return spread;
}

/// `weight`: torch [inputs][outputs of a group][kernel...].
Plan plan_of(const Call& call, const Shape& frame, const Shape& weight) {
  Plan plan;
  plan.groups = call.integer("groups", 1);
  if (plan.groups < 1 || weight[0] % plan.groups != 0 || frame[0] != weight[0])
    throw Refusal{"its groups or its weight " + shape_text(weight) + " do not fit its input"};
  plan.group_inputs = weight[0] / plan.groups;
  plan.group_outputs = weight[1];
  Shape result{plan.outputs()};
  for (std::size_t d = 0; d + 1 < frame.size(); ++d) {
    const Spread spread = spread_of(call, frame, weight, d);
    (d == 0 ? plan.y : plan.x) = fewest_products(spread);
    result.push_back(spread.out);
  }
  if (result != call.frame_shape())
    throw Refusal{"its arguments do not give a result of shape " +
                  shape_text(call.node.info.shape)};
  return plan;
}

/// Torch [inputs][outputs of a group][kernel...] as [outputs][inputs of a group][kernel...].
Constants outputs_first(Constants weight, const Plan& plan) {
  const Index inputs = plan.group_inputs, outputs = plan.group_outputs;
  const Index kernel = numel(Shape(weight.shape.begin() + 2, weight.shape.end()));
  Codes codes;
  codes.reserve(weight.codes.size());
  for (Index o = 0; o < plan.outputs(); ++o)
    for (Index i = 0; i < inputs; ++i)
      for (Index k = 0; k < kernel; ++k) {
        const Index input = o / outputs * inputs + i;
        codes.push_back(weight.codes[at((input * outputs + o % outputs) * kernel + k)]);
      }
  weight.codes = std::move(codes);
  weight.shape[0] = plan.outputs();
  weight.shape[1] = inputs;
  return weight;
}

/// The weights of an output of the convolution: [kernel...][inputs of a group], 0 without a tap.
void append_weights(Codes& codes, std::span<const Index> weight, const Plan& plan, Index phase) {
  const Index height = plan.y.window.kernel, width = plan.x.window.kernel;
  const auto columns = std::ranges::max(plan.x.taps) + 1;
  const Index kernel = static_cast<Index>(weight.size()) / plan.group_inputs;
  for (Index tap = 0; tap < height * width; ++tap) {
    const Index a = plan.y.taps[at(phase / plan.x.stride * height + tap / width)];
    const Index b = plan.x.taps[at(phase % plan.x.stride * width + tap % width)];
    for (Index i = 0; i < plan.group_inputs; ++i)
      codes.push_back(a == none || b == none ? 0 : weight[at(i * kernel + a * columns + b)]);
  }
}

/// The weights and biases of all phases, for each output of the convolution.
Matrix with_phases(const Matrix& matrix, const Plan& plan) {
  const std::size_t row = matrix.weight.codes.size() / at(plan.outputs());
  Matrix all{matrix.weight, matrix.bias};
  all.weight.codes.clear();
  all.bias.codes.clear();
  for (Index c = 0; c < plan.outputs() * plan.phases(); ++c) {
    const Index phase = c / plan.group_outputs % plan.phases();
    const Index group = c / plan.group_outputs / plan.phases();
    const std::size_t o = at(group * plan.group_outputs + c % plan.group_outputs);
    const std::span codes(matrix.weight.codes);
    append_weights(all.weight.codes, codes.subspan(o * row, row), plan, phase);
    if (!matrix.bias.codes.empty()) all.bias.codes.push_back(matrix.bias.codes[o]);
  }
  return all;
}

Convolution convolution_of(const Matrix& matrix, const Plan& plan) {
  Convolution convolution;
  convolution.window = {plan.y.window, plan.x.window, plan.groups * plan.group_inputs};
  convolution.outputs = plan.outputs() * plan.phases();
  convolution.groups = plan.groups;
  convolution.weight_type = matrix.weight.type;
  convolution.weight = matrix.weight.codes;
  convolution.weight_code = matrix.weight.float_code(convolution.weight);
  convolution.bias = matrix.bias.codes;
  convolution.bias_width = matrix.bias.width();
  return convolution;
}

/// A shape of the plan's dimensions: [channels, height, width], or [channels, length].
Shape framed(const Call& call, Index channels, Index height, Index width) {
  Shape shape{channels, height, width};
  shape.resize(call.frame_shape().size());
  return shape;
}

/// Phases beside each other: all rows, of each the columns that are no more left out.
StreamView interleaved(const Call& call, const StreamView& x, const Plan& plan) {
  const Index rows = plan.y.all(), columns = plan.x.out;
  std::vector<Index> source;
  for (Index o = 0; o < plan.outputs(); ++o)
    for (Index i = 0; i < rows * columns; ++i) {
      const Index row = i / columns, column = i % columns + plan.x.crop;
      const Index phase = row % plan.y.stride * plan.x.stride + column % plan.x.stride;
      const Index place = plan.channel(o, phase) * plan.y.window.out + row / plan.y.stride;
      source.push_back(place * plan.x.window.out + column / plan.x.stride);
    }
  const Layout wanted = channels_last(framed(call, plan.outputs(), rows, columns));
  const Gather gather = gather_between(x.layout, source, wanted);
  if (gather.period == 1) return {x.id, wanted};
  const FixedType& type = call.lowering.value(x.id).type;
  return call.lowering.emit_before(call.node, "interleave", gather, {x.id},
                                   {interval_of(type), type.frac}, unchanged(type), wanted);
}

/// Without the rows that are left out.
StreamView cropped(const Call& call, const StreamView& x, const Plan& plan) {
  if (plan.y.all() == plan.y.out) return x;
  const Index row = plan.x.out * plan.outputs();
  const Slice slice{plan.y.crop * row, plan.y.out * row, plan.y.all() * row};
  const FixedType& type = call.lowering.value(x.id).type;
  return call.lowering.emit_before(call.node, "crop", slice, {x.id}, {interval_of(type), type.frac},
                                   unchanged(type), channels_last(call.frame_shape()));
}

/// `matrix`: [outputs][inputs of a group][kernel...]; the stream is channels last.
Operand spread(const Call& call, const StreamView& x, const Plan& plan, const Matrix& of_taps) {
  const FixedType type = call.lowering.value(x.id).type;
  Matrix matrix = with_phases(of_taps, plan);
  matrix.lines = of_taps.lines;
  if (OnCodes* codes = call.lowering.on_codes(call.node)) codes->lines = of_taps.lines;
  Convolution convolution = convolution_of(matrix, plan);
  const Layout layout =
      channels_last(framed(call, convolution.outputs, plan.y.window.out, plan.x.window.out));
  const Index terms = convolution.columns();
  if (plan.is_plain()) return emit_product(call, std::move(convolution), x, matrix, terms, layout);
  const StreamView phases = call.lowering.emit_first(
      call.node, std::move(convolution), x, accumulator_of(matrix, terms, type), layout, "phases");
  return cropped(call, interleaved(call, phases, plan), plan);
}

Operand lower_transposed_convolution(const Call& call, std::size_t dims) {
  check_weights(call);
  Constants weight = call.lowering.on_codes(call.node) ? call.weights() : call.constants("weight");
  // Dimension 0 has the inputs here.
  if (weight.scales.size() > 1 || !weight.fracs.empty())
    throw Refusal{"its weight has a scale for each input; one for all has a datapath"};
  StreamView x = image_of(call, weight.shape, dims);
  const Plan plan = plan_of(call, x.layout.torch_shape, weight.shape);
  x = call.lowering.reordered(x, channels_last(x.layout.torch_shape), call.node, "data_in");
  const int frac = call.lowering.value(x.id).type.frac;
  return spread(call, x, plan, matrix_of(call, outputs_first(std::move(weight), plan), frac));
}

bool is_bilinear(const ir::Node& node) {
  return ir::base_op(node.op).starts_with("aten::upsample_bilinear");
}

/// One dimension of bilinear upsampling by the factor s, of pixels with a copy of the first and the
/// last one around them: result o lies at (o + 1/2) / s - 1/2 pixels, so tap k of 2 s weighs
/// 1 - |k - s + 1/2| / s, and 3 s / 2 results are left out on both sides.
Spread upsampled(Index size, Index out) {
  const Index factor = out / size;
  if (out % size != 0 || !std::has_single_bit(static_cast<std::uint64_t>(factor)))
    throw Refusal{"its factor is not a power of two, so that its weights are not binary fractions"};
  if (factor == 1) return {size, 1, 1, 1, 0, out};
  return {size + 2, 2 * factor, factor, 1, 3 * factor / 2, out};
}

/// The weights of its taps times 2 s.
Codes tap_weights(const Spread& spread) {
  Codes weights;
  const Index factor = spread.stride;
  for (Index k = 0; k < spread.kernel; ++k)
    weights.push_back(factor == 1 ? 1 : 2 * factor - std::abs(2 * k - 2 * factor + 1));
  return weights;
}

/// The image with a copy of each border pixel around it in the dimensions that are upsampled.
StreamView bordered(const Call& call, const StreamView& x, const Spread& y_spread,
                    const Spread& x_spread) {
  const Shape frame = x.layout.torch_shape;
  const Shape wanted{frame[0], y_spread.size, x_spread.size};
  const auto place = [](Index c, Index size, Index padded) {
    return std::clamp<Index>(c - (padded - size) / 2, 0, size - 1);
  };
  std::vector<Index> source;
  for (Index i = 0; i < numel(wanted); ++i) {
    const Index row = place(i / wanted[2] % wanted[1], frame[1], wanted[1]);
    const Index column = place(i % wanted[2], frame[2], wanted[2]);
    source.push_back((i / wanted[2] / wanted[1] * frame[1] + row) * frame[2] + column);
  }
  return call.lowering.moved(x, source, channels_last(wanted), call.node, "border");
}

Operand lower_bilinear(const Call& call) {
  StreamView x = call.stream("input");
  const Shape frame = x.layout.torch_shape, result = call.frame_shape();
  if (frame.size() != 3 || result.size() != 3)
    throw Refusal{"it needs a batch of [channels, height, width]"};
  if (call.flag("align_corners", false))
    throw Refusal{"align_corners = True has no datapath; align_corners = False has one"};
  const Spread rows = upsampled(frame[1], result[1]), columns = upsampled(frame[2], result[2]);
  const Plan plan{fewest_products(rows), fewest_products(columns), frame[0], 1, 1};
  const Codes down = tap_weights(rows), across = tap_weights(columns);
  Constants weight{{frame[0], 1, rows.kernel, columns.kernel}, {}, {}};
  for (Index i = 0; i < numel(weight.shape); ++i)
    weight.codes.push_back(down[at(i / columns.kernel % rows.kernel)] *
                           across[at(i % columns.kernel)]);
  const auto halvings = [](const Spread& spread) {
    return spread.stride == 1 ? 0 : static_cast<int>(std::bit_width(at(spread.stride)));
  };
  weight.fit(halvings(rows) + halvings(columns));
  return spread(call, bordered(call, x, rows, columns), plan, {std::move(weight), {}});
}

}  // namespace

std::vector<LoweringRow> transposed_convolution_rows() {
  return {
      {"convtranspose1d", [](const Call& call) { return lower_transposed_convolution(call, 1); },
       false, Factors::multiplied},
      {"convtranspose2d", [](const Call& call) { return lower_transposed_convolution(call, 2); },
       false, Factors::multiplied},
      {"upsample", lower_bilinear, false, Factors::none, is_bilinear},
  };
}

}  // namespace mase::integer
