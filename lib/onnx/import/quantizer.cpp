// SPDX-License-Identifier: Apache-2.0
// Quantizers of constants, as formats, and as operators.
#include "onnx/import/quantizer.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.hpp"
#include "onnx/import/host.hpp"
#include "onnx/import/importer.hpp"
#include "onnx/import/steps.hpp"

namespace mase::onnx {
namespace {

float rounded_half(float x, float (*to)(float), float by) {
  return std::copysign(to(std::fabs(x) + by), x);
}

/// A mode of rounding: its function, and what formats call it; "" if they do not have it.
struct RoundingRow {
  float (*function)(float);
  std::string_view format = {};
  bool shifts = false;  ///< whether round(x + n) is round(x) + n for every integer n
};

const std::map<std::string, RoundingRow>& rounding_rows() {
  static const std::map<std::string, RoundingRow> rows{
      {"ROUND", {[](float x) { return std::nearbyint(x); }, "nearest_even"}},
      {"FLOOR", {[](float x) { return std::floor(x); }, "floor", true}},
      {"CEIL", {[](float x) { return std::ceil(x); }}},
      {"UP", {[](float x) { return rounded_half(x, std::ceil, 0); }}},
      {"DOWN", {[](float x) { return std::trunc(x); }}},
      {"HALF_UP", {[](float x) { return rounded_half(x, std::floor, 0.5F); }, "nearest_away"}},
      {"HALF_DOWN", {[](float x) { return rounded_half(x, std::ceil, -0.5F); }}},
  };
  return rows;
}

/// The element of `constant` for each element of a tensor to whose shape it broadcasts.
class Spread {
 public:
  Spread(const Array& constant, const Shape& shape) : values_(constant.span<float>()) {
    if (values_.size() == 1) return;
    if (broadcast_shape(constant.shape(), shape) != shape)
      file_error("its scale or zero point of shape " + shape_text(constant.shape()) +
                 " does not fit the tensor's shape " + shape_text(shape));
    places_ = broadcast_places(constant.shape(), shape);
  }
  float operator[](std::size_t i) const {
    return places_.empty() ? values_[0] : values_[static_cast<std::size_t>(places_[i])];
  }

 private:
  std::span<const float> values_;
  std::vector<std::int64_t> places_;
};

/// The numbers of an array of integers or floats; an int32 is exact in double.
std::vector<double> numbers_of(const Array& stored) {
  const Array array = stored.aligned();
  const auto numbers = [&]<class T>(T) {
    std::vector<double> all;
    for (const T one : array.span<T>()) all.push_back(static_cast<double>(one));
    return all;
  };
  switch (array.dtype()) {
    case DType::int32:
      return numbers(std::int32_t{});
    case DType::int16:
      return numbers(std::int16_t{});
    case DType::int8:
      return numbers(std::int8_t{});
    case DType::uint8:
      return numbers(std::uint8_t{});
    case DType::uint16:
      return numbers(std::uint16_t{});
    case DType::uint32:
      return numbers(std::uint32_t{});
    default: {
      const Array floats = array.to_float32();
      return {floats.span<float>().begin(), floats.span<float>().end()};
    }
  }
}

ir::Value number(float value) { return static_cast<double>(value); }

/// An operator on x and a constant.
ir::NodeId with_constant(Call& call, std::string_view op, ir::NodeId x, const Array& other,
                         float neutral, const std::string& what) {
  const auto same = uniform(other);
  if (same && *same == neutral) return x;
  if (same)
    return call.emit(std::string(op) + ".Scalar", {{"self", ref(x)}, {"other", number(*same)}});
  Operand operand{.constant = Constant{other, call.node().name + "_" + what, {}, false}};
  return call.emit(std::string(op) + ".Tensor",
                   {{"self", ref(x)}, {"other", ref(call.importer().node_of(operand, what))}});
}

/// The codes without the zero point, where they are the same for all elements.
struct Range {
  double low, high;
};

/// The zero point may be added to codes instead of numbers before rounding.
std::optional<Range> range_of(const Quantizer& quantizer) {
  const auto zero = uniform(quantizer.zero);
  if (!zero || *zero != std::nearbyint(*zero)) return std::nullopt;
  const bool even = std::fmod(*zero, 2.0F) == 0;
  const RoundingRow& row = rounding_rows().at(quantizer.rounding);
  const bool moves = row.shifts || (even && quantizer.rounding == "ROUND");
  if (quantizer.zero_first && *zero != 0 && !moves) return std::nullopt;
  const auto offset = static_cast<double>(*zero);
  return Range{quantizer.low - offset, quantizer.high - offset};
}

/// The fraction bits of codes with this step, which a format can have.
std::optional<int> fraction_of(float step) {
  constexpr int limit = 126;
  const auto exponent = power_of_two(step);
  return exponent && std::abs(*exponent) <= limit ? std::optional(-*exponent) : std::nullopt;
}

int bits_of(double low, double high) {
  int bits = low < 0 ? 1 : 0;
  while (std::ldexp(1.0, bits - (low < 0 ? 1 : 0)) - 1 < high ||
         (low < 0 && -std::ldexp(1.0, bits - 1) > low))
    ++bits;
  return std::max(bits, 1);
}

/// The steps of all channels, or the one that they share.
Tree steps_of(const Array& scale) {
  const auto same = uniform(scale);
  Tree steps = Tree::list();
  if (same) steps.push_back(static_cast<double>(*same));
  for (const float step : scale.span<float>())
    if (!same) steps.push_back(static_cast<double>(step));
  return steps;
}

}  // namespace

void set_range(Quantizer& quantizer, int bits, bool is_signed, bool narrow) {
  const double half = std::ldexp(1.0, bits - 1);
  quantizer.low = is_signed ? (narrow ? 1 : 0) - half : 0;
  quantizer.high = is_signed ? half - 1 : 2 * half - (narrow ? 2 : 1);
}

std::optional<float> uniform(const Array& array) {
  const auto values = array.span<float>();
  if (values.empty()) return std::nullopt;
  const bool same = std::ranges::all_of(values, [&](float one) { return one == values[0]; });
  return same ? std::optional(values[0]) : std::nullopt;
}

std::optional<int> power_of_two(float number) {
  int exponent = 0;
  return std::frexp(number, &exponent) == 0.5F ? std::optional(exponent - 1) : std::nullopt;
}

Array quotients_of(const Quantizer& quantizer, const Array& x) {
  Array quotients = x.aligned().to_float32();
  const Spread scale(quantizer.scale, x.shape());
  std::size_t i = 0;
  for (float& one : quotients.mutable_span<float>()) one /= scale[i++];
  return quotients;
}

Array codes_of(const Quantizer& quantizer, const Array& x) {
  Array codes = quotients_of(quantizer, x);
  const Spread zero(quantizer.zero, x.shape());
  const auto round = rounding_rows().at(quantizer.rounding).function;
  const auto low = static_cast<float>(quantizer.low), high = static_cast<float>(quantizer.high);
  std::size_t i = 0;
  for (float& one : codes.mutable_span<float>()) {
    one = quantizer.zero_first ? round(one + zero[i]) : round(one) + zero[i];
    one = std::clamp(one, low, high);
    ++i;
  }
  return codes;
}

Array values_of(const Quantizer& quantizer, const Array& codes) {
  Array values(DType::float32, codes.shape());
  const Spread scale(quantizer.scale, codes.shape()), zero(quantizer.zero, codes.shape());
  const std::vector<double> numbers = numbers_of(codes);
  std::span<float> all = values.mutable_span<float>();
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<float>(numbers[i] - static_cast<double>(zero[i])) * scale[i];
  return values;
}

std::optional<formats::Format> integer_format(double low, double high, int frac,
                                              const std::string& rounding) {
  constexpr int most_bits = 32;
  const int bits = bits_of(low, high);
  if (bits > most_bits) return std::nullopt;
  Tree fields = Tree::dict();
  fields["width"] = bits;
  fields["frac_width"] = frac;
  fields["is_signed"] = low < 0;
  fields["rounding"] = rounding;
  return formats::format_of("integer", fields);
}

std::vector<formats::Format> formats_of(const Quantizer& quantizer) {
  const auto zeros = quantizer.zero.span<float>();
  const auto [least, most] = std::ranges::minmax(zeros);
  const double low = quantizer.low - static_cast<double>(most);
  const double high = quantizer.high - static_cast<double>(least);
  std::vector<formats::Format> formats;
  std::vector<std::optional<int>> fractions;
  for (const float step : quantizer.scale.span<float>()) fractions.push_back(fraction_of(step));
  const bool powers =
      std::ranges::all_of(fractions, [](const auto& one) { return one.has_value(); });
  const auto add = [&](std::string_view name, Tree fields) {
    formats.push_back(formats::format_of(name, fields));
  };
  // With the finest step, which may do for all.
  const auto plain = integer_format(low, high, powers ? **std::ranges::max_element(fractions) : 0);
  if (!plain) return formats;
  if (powers) formats.push_back(*plain);
  if (powers && !uniform(quantizer.scale)) {
    Tree fields = plain->fields(), list = Tree::list();
    for (const auto& one : fractions) list.push_back(*one);
    fields["frac_width"] = **std::ranges::min_element(fractions);
    fields["granularity"] = "channel";
    fields["channel_frac_width"] = std::move(list);
    add("integer", std::move(fields));
  }
  if (std::ranges::any_of(quantizer.scale.span<float>(), [](float step) { return !(step > 0); }))
    return formats;
  Tree fields = Tree::dict();
  fields["width"] = plain->fields().at("width");
  fields["is_signed"] = plain->fields().at("is_signed");
  fields["channel_step"] = steps_of(quantizer.scale);
  add("scale_integer", std::move(fields));
  return formats;
}

ir::NodeId rounded_to(Call& call, ir::NodeId x, formats::Format format) {
  ir::Graph& graph = call.importer().graph();
  const bool taken =
      graph.node(x).formats.contains("data_out") || graph.node(x).op != "aten::clamp";
  if (taken) x = call.emit("mase::identity", {{"self", ref(x)}});
  graph.node(x).formats.emplace("data_out", std::move(format));
  return x;
}

ir::NodeId divided(Call& call, ir::NodeId x, const Array& by) {
  return with_constant(call, "aten::div", x, by, 1, "scale");
}
ir::NodeId multiplied(Call& call, ir::NodeId x, const Array& by) {
  return with_constant(call, "aten::mul", x, by, 1, "scale");
}
ir::NodeId added(Call& call, ir::NodeId x, const Array& other) {
  return with_constant(call, "aten::add", x, other, 0, "zero_point");
}
ir::NodeId subtracted(Call& call, ir::NodeId x, const Array& other) {
  return with_constant(call, "aten::sub", x, other, 0, "zero_point");
}
ir::NodeId clamped(Call& call, ir::NodeId x, double low, double high) {
  return call.emit("aten::clamp", {{"self", ref(x)}, {"min", low}, {"max", high}});
}

ir::NodeId rounded(Call& call, ir::NodeId x, const std::string& mode) {
  const auto apply = [&](std::string_view op, ir::NodeId to) {
    return call.emit(op, {{"self", ref(to)}});
  };
  if (mode == "ROUND") return apply("aten::round", x);
  if (mode == "FLOOR") return apply("aten::floor", x);
  if (mode == "CEIL") return apply("aten::ceil", x);
  // The others round the magnitude.
  ir::NodeId magnitude = apply("aten::abs", x);
  if (mode.starts_with("HALF"))
    magnitude = call.emit("aten::add.Scalar",
                          {{"self", ref(magnitude)}, {"other", mode == "HALF_UP" ? 0.5 : -0.5}});
  const bool up = mode == "UP" || mode == "HALF_DOWN";
  return call.emit("aten::mul.Tensor",
                   {{"self", ref(apply(up ? "aten::ceil" : "aten::floor", magnitude))},
                    {"other", ref(apply("aten::sign", x))}});
}

ir::NodeId codes_of(Call& call, const Quantizer& quantizer, ir::NodeId x) {
  ir::NodeId codes = divided(call, x, quantizer.scale);
  if (quantizer.zero_first) codes = added(call, codes, quantizer.zero);
  codes = rounded(call, codes, quantizer.rounding);
  if (!quantizer.zero_first) codes = added(call, codes, quantizer.zero);
  return clamped(call, codes, quantizer.low, quantizer.high);
}

ir::NodeId quantized(Call& call, const Quantizer& quantizer, ir::NodeId x) {
  const RoundingRow& row = rounding_rows().at(quantizer.rounding);
  const auto range = range_of(quantizer);
  const auto step = uniform(quantizer.scale);
  const auto fraction = step ? fraction_of(*step) : std::nullopt;
  const auto format =
      range && !row.format.empty()
          ? integer_format(range->low, range->high, fraction.value_or(0), std::string(row.format))
          : std::nullopt;
  if (!format) {
    const ir::NodeId codes = codes_of(call, quantizer, x);
    return multiplied(call, subtracted(call, codes, quantizer.zero), quantizer.scale);
  }
  if (!fraction) x = divided(call, x, quantizer.scale);
  const double unit = fraction ? static_cast<double>(*step) : 1;
  const formats::Range held = format->range();
  if (held.low != range->low * unit || held.high != range->high * unit)
    x = clamped(call, x, range->low * unit, range->high * unit);
  x = rounded_to(call, x, *format);
  return fraction ? x : multiplied(call, x, quantizer.scale);
}

Array float_constant(Call& call, std::size_t i, const std::string& what) {
  const Array* array = call.constant(i);
  if (!array) call.refuse("its " + what + " is computed by the model; it must be a constant");
  if (array->size() == 0) call.wrong("its " + what + " is empty");
  return array->aligned().to_float32();
}

}  // namespace mase::onnx
