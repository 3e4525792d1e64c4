// SPDX-License-Identifier: Apache-2.0
// Reads steps from the fields and the scales of formats.
#include "onnx/export/integer_codes.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace mase::onnx {
namespace {

/// Up to this width the profile `reference` has the values of `exact` (formats.md, section 4).
constexpr int float_bits = 24;

bool is_integer(const formats::Format& format) {
  const std::string_view name = format.name();
  return name == "integer" || name == "fixed" || name == "integer_floor";
}

/// The bits of a code; 0 for formats that are not integers times a scale.
int bits_of(const formats::Format& format) {
  if (format.name() == "binary" || format.name() == "ternary") return 2;
  const bool known = is_integer(format) || format.name() == "scale_integer";
  return known ? static_cast<int>(format.fields().at("width").as_int()) : 0;
}

std::vector<float> scales_of(const Array& values, const formats::Format& format) {
  if (!is_integer(format)) {
    std::vector<float> scales = format.encode(values.span<float>(), values.shape()).scales;
    return scales.empty() ? std::vector<float>{1} : scales;
  }
  const Tree fields = format.fields();
  const Tree* list = format.per_channel() ? fields.find("channel_frac_width") : nullptr;
  const auto step = [](const Tree& frac) {
    return std::ldexp(1.0F, -static_cast<int>(frac.as_int()));
  };
  if (!list) return {step(fields.at("frac_width"))};
  std::vector<float> steps;
  for (const Tree& frac : list->as_list()) steps.push_back(step(frac));
  return steps;
}

/// The shape with which scales broadcast; nullopt if they belong to other parts of the tensor.
std::optional<Shape> scale_shape(std::size_t count, const Shape& shape) {
  if (count == 1) return Shape{};
  const auto scales = static_cast<std::int64_t>(count);
  if (scales == shape.at(0)) {
    Shape channels(shape.size(), 1);
    channels[0] = scales;
    return channels;
  }
  if (shape.back() == 0 || scales != numel(shape) / shape.back()) return std::nullopt;
  Shape rows = shape;
  rows.back() = 1;
  return rows;
}

}  // namespace

double FixedPoint::low() const { return is_signed ? -std::ldexp(1.0, bits - 1) : 0; }
double FixedPoint::high() const { return std::ldexp(1.0, bits - (is_signed ? 1 : 0)) - 1; }
double FixedPoint::step() const { return std::ldexp(1.0, -frac); }

std::optional<FixedPoint> fixed_point_of(const formats::Format& given) {
  const formats::Format format = given.deterministic();
  if (!is_integer(format) || format.per_channel()) return std::nullopt;
  const Tree fields = format.fields();
  FixedPoint fixed;
  fixed.bits = static_cast<int>(fields.at("width").as_int());
  fixed.frac = static_cast<int>(fields.at("frac_width").as_int());
  fixed.is_signed = fields.at("is_signed").as_bool();
  fixed.rounding = "floor";
  if (const Tree* rounding = fields.find("rounding")) fixed.rounding = rounding->as_string();
  if (fields.at("profile").as_string() != "exact" && fixed.bits > float_bits) return std::nullopt;
  return fixed;
}

Array rounded_values(const Array& value, const formats::Format& format) {
  Array values(DType::float32, value.shape());
  const Array floats = value.aligned();
  format.deterministic().quantize(floats.span<float>(), values.mutable_span<float>(),
                                  value.shape());
  return values;
}

std::optional<IntegerCodes> integer_codes_of(const Array& value, const formats::Format& given) {
  const formats::Format format = given.deterministic();
  IntegerCodes found;
  found.bits = bits_of(format);
  if (found.bits == 0 || value.size() == 0) return std::nullopt;
  const Tree fields = format.fields();
  if (const Tree* is_signed = fields.find("is_signed")) found.is_signed = is_signed->as_bool();
  found.scales = scales_of(value.aligned(), format);
  const auto shape = scale_shape(found.scales.size(), value.shape());
  if (!shape) return std::nullopt;
  found.scale_shape = *shape;
  const Array values = rounded_values(value, format);
  const std::size_t block = values.span<float>().size() / found.scales.size();
  for (const float one : values.span<float>()) {
    const float scale = found.scales[found.codes.size() / block];
    const double code = std::nearbyint(static_cast<double>(one) / static_cast<double>(scale));
    if (!(static_cast<float>(code) * scale == one)) return std::nullopt;  // also a NaN
    found.codes.push_back(code);
  }
  return found;
}

}  // namespace mase::onnx
