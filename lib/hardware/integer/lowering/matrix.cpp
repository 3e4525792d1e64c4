// SPDX-License-Identifier: Apache-2.0
// Lowering of products with weights: linear, convolution, batch norm as scale and shift.
#include "hardware/integer/lowering/matrix.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "hardware/integer/lowering/layer_on_codes.hpp"
#include "hardware/integer/lowering/lowering_table.hpp"

namespace mase::integer {
namespace {

/// The least k so that 2^k is as great as every magnitude.
int magnitude_bits(const Interval& range) {
  const Wide most = std::max(-range.low, range.high);
  int bits = 0;
  while ((static_cast<Wide>(1) << bits) < most) ++bits;
  return bits;
}

}  // namespace

// Products have at most 2^(a + b), so many of them 2^(a + b + k) for the least k with
// terms <= 2^k. Up to 2^126 neither they nor their partial sums leave 128 bits, not even with a
// bias, which has at most 2^124; what has 2^126 is refused by the width of its exact range.
void check_sum(const Interval& input, const Interval& weight, std::int64_t terms) {
  const int most = magnitude_bits(input) + magnitude_bits(weight) +
                   std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(terms, 1) - 1));
  if (most > accumulator_bits)
    throw Refusal{too_wide("its accumulator could need", most + 2, accumulator_bits)};
}

Layout product_layout(const Layout& input, const Rows& rows, std::int64_t outputs) {
  Layout layout{{}, input.torch_shape, {}};
  layout.torch_shape.back() = outputs;
  for (const std::int64_t row : rows.rows)
    for (std::int64_t o = 0; o < outputs; ++o) layout.order.push_back(row * outputs + o);
  // Stream dimensions other than the innermost are kept when a row is the innermost one.
  const bool several = rows.rows.size() > 1;
  if (several && input.shape.back() == input.torch_shape.back())
    layout.shape.assign(input.shape.begin(), input.shape.end() - 1);
  else if (several)
    layout.shape = {static_cast<std::int64_t>(rows.rows.size())};
  layout.shape.push_back(outputs);
  return layout;
}

Interval Matrix::sums(std::int64_t terms, const Interval& input) const {
  if (weight.any || bias.any) return matrix_interval(weight.range(), terms, bias.range(), input);
  return matrix_interval(weight.codes, terms, bias.codes, input);
}

Rows rows_for(const Call& call, StreamView& x) {
  if (auto rows = rows_of(x.layout)) return *rows;
  x = call.lowering.reordered(x, row_major(x.layout.torch_shape), call.node, "data_in");
  return *rows_of(x.layout);
}

namespace {

/// Bias codes at the accumulator's binary point, which is that of input times factor. Where the
/// bias is finer, the factors are shifted left: the hardware has no aligner.
Summands aligned_bias(Constants bias, Constants& factor, int input_frac) {
  const bool zero = std::ranges::all_of(bias.codes, [](std::int64_t code) { return code == 0; });
  if (zero && !bias.any) return {};
  int frac = bias.type.frac;
  while (!bias.any &&
         std::ranges::all_of(bias.codes, [](std::int64_t code) { return code % 2 == 0; })) {
    for (std::int64_t& code : bias.codes) code /= 2;
    --frac;
  }
  const int finer = frac - (input_frac + factor.type.frac);
  if (finer > 0) {
    if (factor.type.width + finer > 62)
      throw Refusal{"its bias has " + std::to_string(finer) +
                    " fraction bits more than input and weight; give the bias fewer"};
    for (std::int64_t& code : factor.codes) code *= std::int64_t{1} << finer;
    if (factor.any) factor.any = shifted(*factor.any, finer);
    if (factor.any_code) factor.any_code->unit += finer;
    factor.type.width += finer;
    factor.type.frac += finer;
  }
  const int shift = std::max(-finer, 0);
  if (bias.type.width + shift > 124)
    throw Refusal{
        "its bias is far coarser than input and weight; give the bias more fraction bits"};
  Summands aligned;
  for (const std::int64_t code : bias.codes)
    aligned.codes.push_back(static_cast<Wide>(code) * (static_cast<Wide>(1) << shift));
  if (bias.any) aligned.any = shifted(*bias.any, shift);
  return aligned;
}

/// A bias of channels whose weights have fraction bits of their own, each aligned to the
/// accumulator of its channel. Where a bias is finer, the weights of its channel are shifted left.
Summands aligned_by_channel(const Constants& bias, Constants& weight, int input_frac) {
  const std::size_t row = weight.codes.size() / weight.fracs.size();
  const std::optional<Interval> any = weight.any;
  Summands aligned;
  for (std::size_t o = 0; o < weight.fracs.size(); ++o) {
    const std::span codes = std::span(weight.codes).subspan(o * row, row);
    Constants one{{}, bias.type, {bias.codes[o]}, {}, bias.any};
    FixedType type = weight.type;
    type.frac = weight.fracs[o];
    Constants factors{{}, type, {codes.begin(), codes.end()}, {}, any};
    const Summands found = aligned_bias(std::move(one), factors, input_frac);
    std::ranges::copy(factors.codes, codes.begin());
    weight.fracs[o] = factors.type.frac;
    if (any) weight.any = hull(*weight.any, *factors.any);
    if (found.any) aligned.any = hull(aligned.range(), *found.any);
    aligned.codes.push_back(found.codes.empty() ? 0 : found.codes.front());
  }
  const auto [low, high] = weight.range();
  if (low < weight.type.low() || high > weight.type.high())
    weight.type = type_for(low, high, weight.type.frac);
  const bool zero = std::ranges::all_of(aligned.codes, [](Wide word) { return word == 0; });
  if (zero && !aligned.any) aligned.codes.clear();
  return aligned;
}

}  // namespace

Matrix matrix_of(const Call& call, Constants weight, int input_frac, std::string_view argument) {
  if (call.lowering.on_codes(call.node))
    return matrix_on_codes(call, std::move(weight), input_frac, argument);
  Matrix matrix{std::move(weight), {}};
  if (!call.has_tensor(argument)) return matrix;
  if (!matrix.weight.scales.empty()) {  // it is added behind the scales
    matrix.shift = call.constants(argument);
    return matrix;
  }
  Constants bias = call.constants(argument);
  if (matrix.weight.shape.empty() || bias.shape != Shape{matrix.weight.shape[0]})
    throw Refusal{"its bias " + shape_text(bias.shape) + " does not fit its weight " +
                  shape_text(matrix.weight.shape)};
  matrix.bias = matrix.weight.fracs.empty()
                    ? aligned_bias(std::move(bias), matrix.weight, input_frac)
                    : aligned_by_channel(bias, matrix.weight, input_frac);
  return matrix;
}

void check_weights(const Call& call) {
  if (!call.has_tensor("weight"))
    throw Refusal{"its weight is computed; write the product of two streams as torch.matmul"};
  call.weights();
  if (call.has_tensor("bias") && !call.lowering.on_codes(call.node)) call.constants("bias");
}

Accumulator accumulator_of(const Matrix& matrix, std::int64_t terms, const FixedType& input) {
  check_sum(interval_of(input), matrix.weight.range(), terms);
  check_width(hull(matrix.bias.range(), {}), 124, "its bias");
  return {matrix.sums(terms, interval_of(input)), input.frac + matrix.weight.type.frac};
}

namespace {

/// How far every channel is shifted to the fraction bits of the finest; empty where all have these.
std::vector<int> shifts_of(const Constants& weight) {
  if (weight.fracs.empty()) return {};
  const int finest = std::ranges::max(weight.fracs);
  std::vector<int> left;
  for (const int frac : weight.fracs) left.push_back(finest - frac);
  if (std::ranges::max(left) == 0) left.clear();
  return left;
}

/// Refuses channels whose sums need too many bits, as they do when fraction bits lie far apart.
void check_channel_sums(const Interval& sums, int shift, int limit) {
  const int width = signed_width(sums.low, sums.high) + shift;
  if (width > limit)
    throw Refusal{"sums of its channels need " + std::to_string(width) + " bits, more than " +
                  std::to_string(limit) +
                  ", as the fraction bits of channels and bias are far apart; calibrate its weight "
                  "anew (pass calibrate) or give it granularity = \"tensor\""};
}

/// The accumulators of all channels, each shifted to the fraction bits of the finest.
Interval shifted_interval(const Matrix& matrix, const std::vector<int>& left, std::int64_t terms,
                          const Interval& input) {
  const std::span<const std::int64_t> codes(matrix.weight.codes);
  const std::span<const Wide> bias(matrix.bias.codes);
  const bool any = matrix.weight.any || matrix.bias.any;
  Interval all;
  for (std::size_t o = 0; o < left.size(); ++o) {
    const Interval own = any ? matrix.sums(terms, input)
                             : matrix_interval(codes.subspan(o * at(terms), at(terms)), terms,
                                               bias.empty() ? bias : bias.subspan(o, 1), input);
    check_channel_sums(own, left[o], 126);
    all = hull(all, shifted(own, left[o]));
  }
  return all;
}

/// The scales of channels as numbers of one binary point.
Constants scale_codes(const std::vector<float>& scales) {
  int frac = fraction_bits(scales.front());
  for (const float scale : scales)
    if (scale != 0) frac = std::max(frac, fraction_bits(scale));
  Constants codes{{std::ssize(scales)}, {}, {}};
  for (const float scale : scales) {
    const double code = std::ldexp(static_cast<double>(scale), frac);
    if (code >= 0x1p60)
      throw Refusal{
          "the scales of its channels are too far apart to have one binary point; 'integer' with "
          "granularity = \"channel\" has fraction bits for each"};
    codes.codes.push_back(static_cast<std::int64_t>(code));
  }
  codes.fit(frac);
  return codes;
}

/// Sums of products with the codes of weights, and behind them the scales and the bias.
StreamView emit_scaled_product(const Call& call, Operation product, const StreamView& x,
                               Matrix& matrix, std::int64_t terms, Layout layout) {
  const Accumulator sums = accumulator_of(matrix, terms, call.lowering.value(x.id).type);
  check_width(sums.range, stream_bits, "its accumulator");
  const StreamView unscaled =
      call.lowering.emit_accumulators(call.node, std::move(product), {x.id}, sums, layout);
  auto [scale, accumulator] =
      scale_step(call, unscaled, scale_codes(matrix.weight.scales), std::move(matrix.shift));
  return call.lowering.emit(call.node, std::move(scale), {unscaled.id}, accumulator,
                            std::move(layout), "scale");
}

}  // namespace

StreamView emit_product(const Call& call, Operation product, const StreamView& x, Matrix& matrix,
                        std::int64_t terms, Layout layout) {
  if (OnCodes* codes = call.lowering.on_codes(call.node)) {
    const Accumulator sums = accumulator_of(matrix, terms, call.lowering.value(x.id).type);
    check_width(sums.range, stream_bits, "its accumulator");
    codes->lines = std::move(matrix.lines);
    return call.lowering.emit_accumulators(call.node, std::move(product), {x.id}, sums,
                                           std::move(layout));
  }
  if (!matrix.weight.scales.empty())
    return emit_scaled_product(call, std::move(product), x, matrix, terms, std::move(layout));
  const FixedType input = call.lowering.value(x.id).type;
  const std::vector<int> left = shifts_of(matrix.weight);
  if (!matrix.weight.fracs.empty()) matrix.weight.type.frac = std::ranges::max(matrix.weight.fracs);
  Accumulator accumulator = accumulator_of(matrix, terms, input);
  if (left.empty())
    return call.lowering.emit(call.node, std::move(product), {x.id}, accumulator,
                              std::move(layout));
  check_channel_sums(accumulator.range, 0, 62);
  const StreamView sums =
      call.lowering.emit_accumulators(call.node, std::move(product), {x.id}, accumulator, layout);
  accumulator.range = shifted_interval(matrix, left, terms, interval_of(input));
  return call.lowering.emit(call.node, ChannelShift{left}, {sums.id}, accumulator,
                            std::move(layout), "shift");
}

StreamView linear_product(const Call& call, StreamView x, Constants weight, std::string_view bias) {
  const FixedType type = call.lowering.value(x.id).type;
  Matrix matrix = matrix_of(call, std::move(weight), type.frac, bias);
  const Shape shape = matrix.weight.shape;
  if (shape.size() != 2 || x.layout.torch_shape.empty() || x.layout.torch_shape.back() != shape[1])
    throw Refusal{"its weight " + shape_text(shape) + " does not fit its input"};
  const Rows rows = rows_for(call, x);
  Linear linear{shape[1],           shape[0],
                matrix.weight.type, Codes(matrix.weight.codes.size()),
                matrix.bias.codes,  matrix.bias.width()};
  for (std::int64_t o = 0; o < shape[0]; ++o)
    for (std::int64_t i = 0; i < shape[1]; ++i)
      linear.weight[at(o * shape[1] + i)] =
          matrix.weight.codes[at(o * shape[1] + rows.columns[at(i)])];
  linear.weight_code = matrix.weight.float_code(linear.weight);
  return emit_product(call, std::move(linear), x, matrix, shape[1],
                      product_layout(x.layout, rows, shape[0]));
}

namespace {

Operand lower_linear(const Call& call) {
  check_weights(call);
  return linear_product(call, call.stream("input"), call.weights());
}

void check_all(const Call& call, std::string_view argument, double wanted, double offset) {
  if (!call.has_tensor(argument)) return;
  const ir::Module& module = call.lowering.graph().module_of(call.node);
  Array values = call.lowering.graph().tensors.at(*module.tensor(argument)).value.to_float32();
  if (const formats::Format* format = call.format(argument))
    values = rounded(std::move(values), *format);
  for (const float value : values.span<float>())
    if (static_cast<double>(value) + offset != wanted)
      throw Refusal{
          "it divides by its statistics, which has no datapath; pass fuse_batch_norm "
          "makes it a part of its layer or a scale and shift, then pass quantize"};
}

Operand lower_batch_norm(const Call& call) {
  if (auto scaled = scaled_batch_norm(call)) return *scaled;
  if (call.node.kind != ir::NodeKind::call_module)
    throw Refusal{"batch norm as a function has no datapath; write it as a layer"};
  if (const ir::Value* training = call.find("training"))
    if (training->kind() == ir::Value::Kind::boolean && training->as_bool())
      throw Refusal{"it normalizes by the batch, which mixes its rows"};
  check_all(call, "running_mean", 0.0, 0.0);
  check_all(call, "running_var", 1.0, call.number("eps", 1e-5));
  Constants scale = call.has_tensor("weight") ? call.constants("weight") : call.constant(1.0);
  std::optional<Constants> shift;
  if (call.has_tensor("bias")) shift = call.constants("bias");
  StreamView x = call.stream("input");
  if (x.layout.torch_shape.empty()) throw Refusal{"it needs a batch of channels as input"};
  if (!is_innermost(x.layout, 0))
    x = call.lowering.reordered(x, channels_last(x.layout.torch_shape), call.node, "data_in");
  return scale_and_shift(call, x, std::move(scale), std::move(shift));
}

}  // namespace

std::pair<ScaleShift, Accumulator> scale_step(const Call& call, const StreamView& x,
                                              Constants scale, std::optional<Constants> shift) {
  const StreamValue& value = call.lowering.value(x.id);
  std::size_t count = std::max(at(value.channels()), scale.codes.size());
  if (shift) count = std::max(count, shift->codes.size());
  if (count != at(value.channels()) && count != at(value.elements()))
    throw Refusal{"its constants do not fit the channels of its input"};
  const auto spread = [&](Constants& constants) {
    const std::size_t given = constants.codes.size();
    if (given == 0 || count % given != 0)
      throw Refusal{"its constants do not fit the channels of its input"};
    for (std::size_t i = given; i < count; ++i)
      constants.codes.push_back(constants.codes[i - given]);
  };
  spread(scale);
  Summands summands;
  if (shift) {
    spread(*shift);
    summands = aligned_bias(std::move(*shift), scale, value.type.frac);
  }
  check_sum(interval_of(value.type), scale.range(), 1);
  Matrix matrix{std::move(scale), std::move(summands)};
  const Accumulator accumulator{matrix.sums(1, interval_of(value.type)),
                                value.type.frac + matrix.weight.type.frac};
  ScaleShift operation{matrix.weight.type, std::move(matrix.weight.codes), matrix.bias.codes,
                       matrix.bias.width()};
  return {std::move(operation), accumulator};
}

StreamView scale_and_shift(const Call& call, const StreamView& x, Constants scale,
                           std::optional<Constants> shift, std::int64_t divisor) {
  auto [operation, accumulator] = scale_step(call, x, std::move(scale), std::move(shift));
  accumulator.divisor = divisor;
  return call.lowering.emit(call.node, std::move(operation), {x.id}, accumulator,
                            call.lowering.layout_of(x));
}

std::vector<LoweringRow> matrix_rows() {
  return {
      {"linear", lower_linear, false, Factors::multiplied},
      {"batch_norm", lower_batch_norm},
      {"batch_norm1d", lower_batch_norm},
      {"batch_norm2d", lower_batch_norm},
  };
}

}  // namespace mase::integer
