// SPDX-License-Identifier: Apache-2.0
// Rows of QONNX, the dialect in which Brevitas, QKeras and FINN store quantized networks
// (Pappalardo et al., arXiv:2206.07527): operators that quantize float32 tensors to float32
// tensors.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.hpp"
#include "onnx/import/importer.hpp"
#include "onnx/import/quantizer.hpp"
#include "onnx/import/rows.hpp"
#include "onnx/import/steps.hpp"

namespace mase::onnx {
namespace {

/// A number that must be a constant integer, as which files store floats.
int whole(Call& call, std::size_t i, const std::string& what, int least, int most) {
  const double value = call.number(i);
  if (value != std::nearbyint(value) || value < least || value > most)
    call.refuse("its " + what + " is " + double_text(value) + "; it must be an integer from " +
                std::to_string(least) + " to " + std::to_string(most));
  return static_cast<int>(value);
}

constexpr int most_bits = 32;

std::string rounding_mode(const Call& call, const std::string& otherwise) {
  std::string mode = call.text("rounding_mode", otherwise);
  std::ranges::transform(mode, mode.begin(), [](unsigned char c) { return std::toupper(c); });
  if (mode == "HALF_EVEN") return "ROUND";
  if (mode == "ROUND_TO_ZERO") return "DOWN";
  constexpr std::array<std::string_view, 7> known{"ROUND", "FLOOR",   "CEIL",     "UP",
                                                  "DOWN",  "HALF_UP", "HALF_DOWN"};
  if (std::ranges::find(known, mode) == known.end())
    call.refuse("the rounding mode '" + mode + "' is not known; ROUND is round half to even");
  return mode;
}

/// A constant's values become a constant, which remembers its formats.
void quantize_constant(Call& call, const Array& values, std::vector<formats::Format> formats) {
  Constant constant = *call.operand(0).constant;
  constant.value = values;
  constant.path.clear();
  constant.formats = std::move(formats);
  call.result(Operand{.constant = std::move(constant)});
}

/// -1 and 1.
formats::Format signs() {
  Tree fields = Tree::dict();
  fields["scaled"] = false;
  return formats::format_of("binary", fields);
}

void bipolar(Call& call, const Array& scale) {
  if (const Array* x = call.constant(0)) {
    Array values = x->aligned().to_float32();
    for (float& one : values.mutable_span<float>()) one = one >= 0 ? 1.0F : -1.0F;
    Quantizer quantizer{scale, Array::from(std::vector<float>{0}, {}), -1, 1};
    std::vector<formats::Format> formats = formats_of(quantizer);
    if (uniform(scale) == 1) formats.insert(formats.begin(), signs());
    return quantize_constant(call, values_of(quantizer, values), std::move(formats));
  }
  call.result(multiplied(call, rounded_to(call, call.tensor(0), signs()), scale));
}

void quant(Call& call) {
  Quantizer quantizer{float_constant(call, 1, "scale"), float_constant(call, 2, "zero point")};
  const int bits = whole(call, 3, "bit width", 1, most_bits);
  const bool is_signed = call.integer("signed", 1) != 0;
  quantizer.zero_first = true;
  quantizer.rounding = rounding_mode(call, "ROUND");
  set_range(quantizer, bits, is_signed, call.integer("narrow", 0) != 0);
  if (bits == 1 && is_signed) {
    if (uniform(quantizer.zero) != 0) call.refuse("one signed bit with a zero point has no format");
    return bipolar(call, quantizer.scale);
  }
  if (const Array* x = call.constant(0))
    return quantize_constant(call, values_of(quantizer, codes_of(quantizer, *x)),
                             formats_of(quantizer));
  call.result(quantized(call, quantizer, call.tensor(0)));
}

/// Drops low bits: code = round(round(x / scale + zero) / 2^n). Since version 2 the result has a
/// scale of its own, of which n follows, and is clamped.
void trunc(Call& call) {
  const Array scale = float_constant(call, 1, "scale"),
              zero = float_constant(call, 2, "zero point");
  const bool has_scale = call.count() > 5;
  const int bits = whole(call, has_scale ? 5 : 4, "bit width", 1, most_bits);
  const std::string mode = rounding_mode(call, "FLOOR");
  ir::NodeId codes =
      rounded(call, added(call, divided(call, call.tensor(0), scale), zero), "ROUND");
  Array out = has_scale ? float_constant(call, 4, "output scale") : scale;
  const auto from = uniform(scale), to = uniform(out), offset = uniform(zero);
  if (!from || !to || !offset) call.refuse("it has a scale or zero point for each channel");
  const double steps = has_scale
                           ? std::exp2(std::nearbyint(std::log2(*to / *from)))
                           : std::exp2(whole(call, 3, "input bit width", 1, most_bits) - bits);
  const auto number = [](double value) {
    return Array::from(std::vector<float>{static_cast<float>(value)}, {});
  };
  codes = divided(call, codes, number(steps));
  if (has_scale) {
    Quantizer range;
    set_range(range, bits, call.integer("signed", 1) != 0, call.integer("narrow", 0) != 0);
    codes = clamped(call, codes, range.low, range.high);
  }
  codes = rounded(call, codes, mode);
  const Array back = has_scale ? number(static_cast<double>(*offset) / steps) : zero;
  call.result(multiplied(call, subtracted(call, codes, back), out));
}

/// Small floats without infinities: every code is a number, up to the greatest value.
void float_quant(Call& call) {
  const Array scale = float_constant(call, 1, "scale");
  const int exponent = whole(call, 2, "exponent width", 1, 8);
  const int mantissa = whole(call, 3, "mantissa width", 0, 14);
  const int bias = whole(call, 4, "exponent bias", -126, 126);
  if (call.integer("saturation", 1) == 0)
    call.refuse("what is too large becomes infinite or NaN; export it with saturation = 1");
  const std::string mode = rounding_mode(call, "ROUND");
  if (mode != "ROUND" && mode != "FLOOR") call.refuse("no float format rounds by " + mode);
  Tree fields = Tree::dict();
  fields["width"] = 1 + exponent + mantissa;
  fields["exponent_width"] = exponent;
  fields["exponent_bias"] = bias;
  fields["rounding"] = mode == "ROUND" ? "nearest_even" : "floor";
  const formats::Format format = formats::format_of("minifloat_ieee", fields);
  const double most =
      call.has(5) ? std::min(call.number(5), format.range().high) : format.range().high;
  if (const Array* x = call.constant(0)) {
    const Quantizer scaling{scale, Array::from(std::vector<float>{0}, {})};
    Array codes = quotients_of(scaling, *x);
    format.quantize(codes.span<float>(), codes.mutable_span<float>(), codes.shape());
    for (float& one : codes.mutable_span<float>())
      one = std::clamp(one, static_cast<float>(-most), static_cast<float>(most));
    std::vector<formats::Format> formats;
    if (uniform(scale) == 1) formats.push_back(format);
    return quantize_constant(call, values_of(scaling, codes), std::move(formats));
  }
  ir::NodeId x = divided(call, call.tensor(0), scale);
  if (most < format.range().high) x = clamped(call, x, -most, most);
  call.result(multiplied(call, rounded_to(call, x, format), scale));
}

/// The format that has exactly the values of up to `most` thresholds, scaled and shifted; nullopt
/// if they have no common step that is a power of two.
std::optional<formats::Format> format_of_counts(std::int64_t most, float scale, float bias) {
  if (most == 1 && scale == 2 && bias == -1) return signs();
  for (int frac = 0; frac < most_bits; ++frac) {
    const double step = std::ldexp(scale, frac), first = std::ldexp(bias, frac);
    if (step != std::nearbyint(step) || first != std::nearbyint(first)) continue;
    const double last = first + static_cast<double>(most) * step;
    return integer_format(std::min(first, last), std::max(first, last), frac);
  }
  return std::nullopt;
}

/// The number of thresholds that an element reaches, scaled and shifted. Its format changes no
/// value, but says which there are.
void multi_threshold(Call& call) {
  const Array thresholds = float_constant(call, 1, "thresholds");
  const std::int64_t rank = call.rank(0);
  if (thresholds.shape().size() != 2 || rank < 2)
    call.refuse("its thresholds " + shape_text(thresholds.shape()) +
                " must be a matrix with a row for each channel");
  static constexpr std::array<std::string_view, 5> layouts{"", "", "NC", "NWC", "NCHW"};
  std::string layout = call.text("data_layout", "");
  if (layout.empty() && rank < 5) layout = layouts[static_cast<std::size_t>(rank)];
  const std::size_t channel = layout.find('C');
  if (channel != std::string::npos && channel >= static_cast<std::size_t>(rank))
    call.wrong("its layout '" + layout + "' has more dimensions than its operand");
  Shape shape(static_cast<std::size_t>(rank) + 1, 1);
  shape[channel == std::string::npos ? 1 : channel] = thresholds.shape()[0];
  shape.back() = thresholds.shape()[1];
  Operand steps{
      .constant =
          Constant{Array::from(thresholds.span<float>(), shape), call.node().inputs[1], {}, false}};
  const auto scale = static_cast<float>(call.number("out_scale", 1)),
             bias = static_cast<float>(call.number("out_bias", 0));
  const ir::NodeId result =
      call.emit("mase::multi_threshold",
                {{"self", call.ref(0)},
                 {"thresholds", ref(call.importer().node_of(steps, "the thresholds"))},
                 {"out_scale", static_cast<double>(scale)},
                 {"out_bias", static_cast<double>(bias)}});
  const auto format = format_of_counts(thresholds.shape()[1], scale, bias);
  call.result(format ? rounded_to(call, result, *format) : result);
}

}  // namespace

std::vector<Row> qonnx_rows() {
  std::vector<Row> rows;
  for (const std::string_view domain : qonnx_domains)
    for (const Row& row : std::initializer_list<Row>{
             {"Quant", 0, quant},
             {"IntQuant", 0, quant},
             {"BipolarQuant", 0,
              [](Call& call) { bipolar(call, float_constant(call, 1, "scale")); }},
             {"Trunc", 0, trunc},
             {"FloatQuant", 0, float_quant},
             {"MultiThreshold", 0, multi_threshold}}) {
      rows.push_back(row);
      rows.back().domain = domain;
    }
  return rows;
}

}  // namespace mase::onnx
