// SPDX-License-Identifier: Apache-2.0
// Formats as QuantizeLinear and DequantizeLinear, which ONNX Runtime makes integer operators of.
#include <algorithm>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "onnx/export/dialects.hpp"
#include "onnx/export/integer_codes.hpp"

namespace mase::onnx {
namespace {

/// An element type of codes, and how an Array holds it.
struct CodeType {
  int bits;
  bool is_signed;
  ElementType type;
};

/// The narrowest ones come first.
constexpr CodeType code_types[] = {
    {4, true, ElementType::int4},   {4, false, ElementType::uint4},
    {8, true, ElementType::int8},   {8, false, ElementType::uint8},
    {16, true, ElementType::int16}, {16, false, ElementType::uint16},
};
constexpr CodeType widest_type{32, true, ElementType::int32};
/// The types between QuantizeLinear and DequantizeLinear: ONNX Runtime moves operators there that
/// it does not have for types of 4 bits.
constexpr int least_bits = 8, most_bits = 16;

/// The narrowest type for codes of `bits` bits, of at least `least` bits itself.
const CodeType& type_of(int bits, bool is_signed, int least = 0) {
  const auto* found = std::ranges::find_if(code_types, [&](const CodeType& one) {
    return one.bits >= std::max(bits, least) && one.is_signed == is_signed;
  });
  return found == std::end(code_types) ? widest_type : *found;
}

template <class T>
Array array_of(const std::vector<double>& codes, const Shape& shape) {
  std::vector<T> all;
  for (const double code : codes) all.push_back(static_cast<T>(code));
  return Array::from(all, shape);
}

/// Codes of 4 bits are the low bits of bytes.
Array code_array(const CodeType& type, const std::vector<double>& codes, const Shape& shape) {
  switch (type.type) {
    case ElementType::int8:
      return array_of<std::int8_t>(codes, shape);
    case ElementType::int16:
      return array_of<std::int16_t>(codes, shape);
    case ElementType::uint16:
      return array_of<std::uint16_t>(codes, shape);
    case ElementType::int32:
      return array_of<std::int32_t>(codes, shape);
    default:
      break;
  }
  std::vector<double> bytes = codes;
  constexpr double range = 16;
  for (double& code : bytes)
    if (code < 0) code += range;
  return array_of<std::uint8_t>(bytes, shape);
}

/// The element type of a float of 8 bits; nullopt for formats with other values.
std::optional<ElementType> float_type_of(const formats::Format& format) {
  if (!format.fields().at("saturate").as_bool()) return std::nullopt;
  if (format.name() == "fp8_e4m3") return ElementType::float8e4m3fn;
  return ElementType::float8e5m2;
}

bool is_small_float(const formats::Format& format) {
  return format.name() == "fp8_e4m3" || format.name() == "fp8_e5m2";
}

std::string quantized(NodeWriter& node, const std::string& x, const std::string& scale,
                      const std::string& zero, const std::string& back) {
  const std::string codes = node.write("QuantizeLinear", {x, scale, zero});
  return node.write("DequantizeLinear", {codes, back, zero});
}

std::string clipped(NodeWriter& node, const std::string& x, double low, double high) {
  return node.write("Clip",
                    {x, node.scalar(low, DType::float32), node.scalar(high, DType::float32)});
}

std::string scaled(NodeWriter& node, const std::string& x, double by) {
  return by == 1 ? x : node.write("Mul", {x, node.scalar(by, DType::float32)});
}

/// Codes that no type has are float32 numbers.
std::string rounded_float(NodeWriter& node, const std::string& x, const FixedPoint& to) {
  const std::string codes =
      node.write(to.rounding == "floor" ? "Floor" : "Round", {scaled(node, x, 1 / to.step())});
  return scaled(node, clipped(node, codes, to.low(), to.high()), to.step());
}

std::string qdq_value(NodeWriter& node, const std::string& x, const formats::Format& format) {
  if (is_small_float(format)) {
    const auto type = float_type_of(format);
    if (!type) node.refuse("values beyond the range saturate in ONNX Runtime");
    const std::string one = node.scalar(1, DType::float32);
    return quantized(node, x, one, node.constant(array_of<std::uint8_t>({0}, {}), *type), one);
  }
  const auto to = fixed_point_of(format);
  if (!to) node.refuse("QuantizeLinear has constant scales and integers or FP8");
  if (to->rounding == "nearest_away") node.refuse("QuantizeLinear rounds halves to even");
  if (to->bits > most_bits || to->rounding == "floor") return rounded_float(node, x, *to);
  const CodeType& type = type_of(to->bits, to->is_signed, least_bits);
  const std::string inside =
      type.bits == to->bits ? x : clipped(node, x, to->low() * to->step(), to->high() * to->step());
  const std::string step = node.scalar(to->step(), DType::float32);
  return quantized(node, inside, step, node.constant(code_array(type, {0}, {}), type.type), step);
}

/// The codes of a tensor as an initializer, and the values that DequantizeLinear makes of them.
std::string small_floats(NodeWriter& node, const PortTensor& tensor,
                         const formats::Format& format) {
  const auto type = float_type_of(format);
  if (!type) node.refuse("values beyond the range saturate in ONNX Runtime");
  const Array value = tensor.value.aligned();
  const std::vector<std::uint32_t> words =
      format.encode(value.span<float>(), value.shape()).codes.unpack();
  const std::vector<double> codes(words.begin(), words.end());
  const std::string name = node.initializer(tensor.path + "_quantized", *type,
                                            array_of<std::uint8_t>(codes, value.shape()));
  return node.write("DequantizeLinear", {name, node.scalar(1, DType::float32)});
}

/// How scales belong to the tensor: one each for indices of an axis, or for blocks along it.
Attributes places_of_scales(const IntegerCodes& codes, const Shape& shape) {
  if (codes.scales.size() == 1) return {};
  const bool channels = codes.scale_shape.at(0) == std::ssize(codes.scales);
  if (channels) return {attribute("axis", std::int64_t{0})};
  return {attribute("axis", std::ssize(shape) - 1), attribute("block_size", shape.back())};
}

std::string qdq_tensor(NodeWriter& node, const PortTensor& tensor, const formats::Format& format) {
  if (is_small_float(format)) return small_floats(node, tensor, format);
  const auto codes = integer_codes_of(tensor.value, format);
  if (!codes) node.refuse("its values are not integers times a scale for a row or channel");
  const CodeType& type = tensor.is_bias ? widest_type : type_of(codes->bits, codes->is_signed);
  if (codes->bits > widest_type.bits - (codes->is_signed ? 0 : 1))
    node.refuse("no element type of DequantizeLinear has so many bits");
  const Shape& shape = tensor.value.shape();
  const Attributes places = places_of_scales(*codes, shape);
  const bool channels = places.size() == 1;
  const Shape scale_shape = channels ? Shape{shape[0]} : codes->scale_shape;
  const std::string name = node.initializer(tensor.path + "_quantized", type.type,
                                            code_array(type, codes->codes, shape));
  const std::string scale =
      node.constant(Array::from(codes->scales, scale_shape), ElementType::float32);
  return node.write("DequantizeLinear", {name, scale}, places);
}

}  // namespace

const Dialect qdq_dialect{qdq_value, qdq_tensor};

const Dialect* dialect_of(FormatDialect dialect) {
  switch (dialect) {
    case FormatDialect::qdq:
      return &qdq_dialect;
    case FormatDialect::qonnx:
      return &qonnx_dialect;
    default:
      return nullptr;
  }
}

}  // namespace mase::onnx
