// SPDX-License-Identifier: Apache-2.0
// Formats as QuantizeLinear and DequantizeLinear, which ONNX Runtime makes integer operators of.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
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

/// The zero point 0, which gives QuantizeLinear its type. DequantizeLinear has its codes' type and
/// gets none: ONNX Runtime 1.32 fails where it copies zero points of int8.
std::string zero_of(NodeWriter& node, ElementType type, const Array& zero) {
  return node.constant(zero, type);
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
  return node.write("DequantizeLinear", {codes, back});
}

/// Operators past which ONNX Runtime moves quantizers.
constexpr std::string_view moving_ops[] = {"Reshape",   "Transpose", "Flatten", "Squeeze",
                                           "Unsqueeze", "Identity",  "Slice",   "MaxPool"};

/// The DequantizeLinear that gives a value or moved elements of it; nullptr if none does.
const Node* dequantizer_of(const NodeWriter& node, const std::string& x) {
  const Node* writer = node.writer_of(x);
  while (writer && std::ranges::find(moving_ops, writer->op) != std::end(moving_ops))
    writer = node.writer_of(writer->inputs.at(0));
  return writer && writer->op == "DequantizeLinear" ? writer : nullptr;
}

/// x in the step and type of codes. Values that have them already stay. ONNX Runtime rounds once
/// where it finds a pair of another step right after a pair, so the least value stands between.
std::string quantized_once(NodeWriter& node, const std::string& x, const std::string& step,
                           const std::string& zero, double least) {
  const Node* before = dequantizer_of(node, x);
  if (!before) return quantized(node, x, step, zero, step);
  const Node* codes = node.writer_of(before->inputs.at(0));
  if (before->inputs.at(1) == step && codes && codes->inputs.at(2) == zero) return x;
  const std::string apart = node.write("Max", {x, node.scalar(least, DType::float32)});
  return quantized(node, apart, step, zero, step);
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
    return quantized(node, x, one, zero_of(node, *type, array_of<std::uint8_t>({0}, {})), one);
  }
  const auto to = fixed_point_of(format);
  if (!to) node.refuse("QuantizeLinear has constant scales and integers or FP8");
  if (to->rounding == "nearest_away") node.refuse("QuantizeLinear rounds halves to even");
  if (to->bits > most_bits || to->rounding == "floor") return rounded_float(node, x, *to);
  const CodeType& type = type_of(to->bits, to->is_signed, least_bits);
  const std::string step = node.scalar(to->step(), DType::float32);
  const std::string zero = zero_of(node, type.type, code_array(type, {0}, {}));
  const double least = to->low() * to->step();
  if (type.bits == to->bits) return quantized_once(node, x, step, zero, least);
  return quantized(node, clipped(node, x, least, to->high() * to->step()), step, zero, step);
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
  if (channels) return {along(0)};
  return {attribute("axis", std::ssize(shape) - 1), attribute("block_size", shape.back())};
}

/// A bias as ONNX Runtime adds it to sums of codes: int32, with their step.
std::optional<IntegerCodes> bias_codes(const PortTensor& tensor, const IntegerCodes& codes) {
  if (!tensor.sum_step || codes.scales.size() != 1) return std::nullopt;
  const double factor = static_cast<double>(codes.scales[0]) / *tensor.sum_step;
  IntegerCodes sums = codes;
  sums.bits = widest_type.bits;
  sums.scales = {static_cast<float>(*tensor.sum_step)};
  for (double& code : sums.codes) {
    code *= factor;
    const bool fits =
        code == std::nearbyint(code) && std::fabs(code) < std::ldexp(1.0, widest_type.bits - 1);
    if (!fits) return std::nullopt;
  }
  return sums;
}

/// Codes as an initializer, and the values that DequantizeLinear makes of them.
std::string dequantized(NodeWriter& node, const PortTensor& tensor, const IntegerCodes& codes,
                        const CodeType& type) {
  const Shape& shape = tensor.value.shape();
  const Attributes places = places_of_scales(codes, shape);
  const bool channels = places.size() == 1;
  const Shape scale_shape = channels ? Shape{shape[0]} : codes.scale_shape;
  const std::string name =
      node.initializer(tensor.path + "_quantized", type.type, code_array(type, codes.codes, shape));
  const std::string scale =
      node.constant(Array::from(codes.scales, scale_shape), ElementType::float32);
  return node.write("DequantizeLinear", {name, scale}, places);
}

std::string qdq_tensor(NodeWriter& node, const PortTensor& tensor, const formats::Format& format) {
  if (is_small_float(format)) return small_floats(node, tensor, format);
  const auto codes = integer_codes_of(tensor.value, format);
  if (!codes) node.refuse("its values are not integers times a scale for a row or channel");
  if (tensor.is_bias)
    if (const auto sums = bias_codes(tensor, *codes))
      return dequantized(node, tensor, *sums, widest_type);
  const CodeType& type = type_of(codes->bits, codes->is_signed);
  // ONNX Runtime takes the step of any int32 bias for that of the sums.
  if (tensor.is_bias && type.type == ElementType::int32)
    return node.initializer(tensor.path + "_quantized", ElementType::float32,
                            rounded_values(tensor.value, format));
  if (codes->bits > widest_type.bits - (codes->is_signed ? 0 : 1))
    node.refuse("no element type of DequantizeLinear has so many bits");
  return dequantized(node, tensor, *codes, type);
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
