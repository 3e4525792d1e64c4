// SPDX-License-Identifier: Apache-2.0
// Scales of weights, biases and norms as lines.
#include "hardware/integer/lowering/layer_on_codes.hpp"

#include <algorithm>
#include <cmath>

#include "hardware/integer/lowering/scaled.hpp"

namespace mase::integer {
namespace {

/// A bias as numbers, and as codes with the steps that its format gives.
struct ExactBias {
  std::vector<Exact> numbers;
  Codes codes;
  std::vector<float> steps;  ///< empty: without codes
};

ExactBias exact_bias(const Call& call, std::string_view argument) {
  ExactBias bias;
  const formats::Format* format = call.format("bias");
  Array values = call.tensor_values(argument);
  if (format) values = rounded(std::move(values), *format);
  for (const float value : values.span<float>()) bias.numbers.emplace_back(value);
  if (!format || format->name() != "scale_integer") return bias;
  bias.steps = format->encode(values.span<float>(), values.shape()).scales;
  for (std::size_t i = 0; i < bias.numbers.size(); ++i) {
    const float step = bias.steps[bias.steps.size() == 1 ? 0 : i];
    const double code =
        std::nearbyint(static_cast<double>(values.span<float>()[i]) / static_cast<double>(step));
    bias.codes.push_back(static_cast<std::int64_t>(code));
    bias.numbers[i] = Exact(bias.codes[i], 0) * Exact(step);
  }
  return bias;
}

/// The line of each output's sums: that of the operand times the scale of the weight.
std::vector<ExactLine> lines_of(const ExactLine& operand, const Constants& weight) {
  std::vector<ExactLine> lines(at(weight.shape.at(0)), operand);
  for (std::size_t o = 0; o < lines.size(); ++o) {
    const auto& scales = weight.scales;
    Exact& factor = lines[o].factor;
    if (!scales.empty()) factor = factor * Exact(scales[scales.size() == 1 ? 0 : o]);
    if (!weight.fracs.empty()) factor = factor * Exact(1, weight.type.frac - weight.fracs[o]);
  }
  return lines;
}

/// A number as a code of sums with `frac` bits, where these are numbers over a power of two;
/// nullopt where it lies between codes, or is far from those that sums have.
std::optional<Wide> code_of_sums(const Exact& number, const ExactLine& line, int frac) {
  const bool is_shift = line.factor.sign() > 0 && line.factor.is_power();
  if (!is_shift || !(line.divisor == Exact(1.0))) return std::nullopt;
  const Exact code = number * Exact(1, frac - line.factor.exponent());
  const int width = signed_width(std::min<Wide>(code.mantissa(), 0), code.mantissa());
  if (code.exponent() < 0 || code.exponent() + width > stream_bits) return std::nullopt;
  return code.mantissa() * (Wide{1} << code.exponent());
}

/// Adds a bias: to the sums where it is whole codes of them, to their lines where it is not. A step
/// that is float32's product of the scales of operand and weight stands for the product itself.
void add_bias(Matrix& matrix, const ExactBias& bias, int frac) {
  if (bias.numbers.size() != matrix.lines.size())
    throw Refusal{"its bias does not fit its weight " + shape_text(matrix.weight.shape)};
  std::vector<Wide>& codes = matrix.bias.codes;
  for (std::size_t o = 0; o < matrix.lines.size(); ++o) {
    ExactLine& line = matrix.lines[o];
    const float step = bias.steps.empty() ? 0 : bias.steps[bias.steps.size() == 1 ? 0 : o];
    const bool is_product = static_cast<float>(line.factor.rounded()) == step;
    const bool is_code =
        !bias.steps.empty() && is_product && line.divisor == Exact(1.0) && frac >= 0;
    const std::optional<Wide> code = is_code ? Wide{bias.codes[o]} * (Wide{1} << frac)
                                             : code_of_sums(bias.numbers[o], line, frac);
    codes.push_back(code.value_or(0));
    if (!code) line.shift = bias.numbers[o] * line.divisor;
  }
  if (std::ranges::all_of(codes, [](Wide code) { return code == 0; })) codes.clear();
}

}  // namespace

Matrix matrix_on_codes(const Call& call, Constants weight, int input_frac,
                       std::string_view argument) {
  std::vector<ExactLine> lines = lines_of(call.lowering.on_codes(call.node)->operand, weight);
  weight.scales.clear();
  weight.fracs.clear();
  const int frac = input_frac + weight.type.frac;
  Matrix matrix{.weight = std::move(weight), .bias = {}, .lines = std::move(lines)};
  if (call.has_tensor(argument)) add_bias(matrix, exact_bias(call, argument), frac);
  const auto same = [&](const ExactLine& line) {
    return line.factor == matrix.lines[0].factor && line.shift == matrix.lines[0].shift;
  };
  if (std::ranges::all_of(matrix.lines, same)) matrix.lines.resize(1);
  return matrix;
}

namespace {

/// What a norm reads, where its scale and shift are float numbers; nullopt where they have formats.
std::optional<Scaled> normalized_stream(const Call& call) {
  if (call.node.kind != ir::NodeKind::call_module || call.flag("training", false))
    return std::nullopt;
  if (const Scaled* scaled = call.scaled("input")) return *scaled;
  if (call.lowering.reloadable() || call.format("weight") || call.format("bias"))
    return std::nullopt;
  const ir::Value* input = call.node.find("input");
  if (!input || !std::holds_alternative<StreamView>(call.lowering.operand(input->node())))
    return std::nullopt;
  return unscaled(call.stream("input"));
}

/// Brings the channels of a stream to the place where each has a line; false where it has lines.
bool bring_channels(const Call& call, Scaled& scaled) {
  StreamView& codes = scaled.codes;
  if (codes.layout.torch_shape.empty()) return false;
  if (is_innermost(codes.layout, 0)) return true;
  if (!scaled.has_one_line()) return false;
  codes =
      call.lowering.reordered(codes, channels_last(codes.layout.torch_shape), call.node, "data_in");
  return true;
}

}  // namespace

std::optional<Scaled> scaled_batch_norm(const Call& call) {
  std::optional<Scaled> x = normalized_stream(call);
  if (!x || !bring_channels(call, *x)) return std::nullopt;
  const auto values = [&](std::string_view argument, double otherwise) {
    std::vector<double> all(at(x->codes.layout.torch_shape[0]), otherwise);
    if (!call.has_tensor(argument)) return all;
    Array array = call.tensor_values(argument);
    if (const formats::Format* format = call.format(argument))
      array = rounded(std::move(array), *format);
    std::ranges::copy(array.span<float>(), all.begin());
    return all;
  };
  const auto mean = values("running_mean", 0), variance = values("running_var", 1);
  const auto weight = values("weight", 1), bias = values("bias", 0);
  const double eps = call.number("eps", 1e-5);
  std::vector<Exact> factors, summands;
  for (std::size_t c = 0; c < mean.size(); ++c) {
    const double factor = weight[c] / std::sqrt(variance[c] + eps);
    factors.emplace_back(static_cast<float>(factor));
    summands.emplace_back(static_cast<float>(bias[c] - factor * mean[c]));
  }
  auto scaled = multiplied(*x, factors);
  return scaled ? shifted(std::move(*scaled), summands) : scaled;
}

}  // namespace mase::integer
