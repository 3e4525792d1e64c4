// SPDX-License-Identifier: Apache-2.0
// Rows of ONNX's own quantized operators: QuantizeLinear and DequantizeLinear, and operators on
// integers, which become the same operators on floats between them.
#include <algorithm>
#include <cmath>
#include <map>

#include "onnx/import/importer.hpp"
#include "onnx/import/quantizer.hpp"
#include "onnx/import/rows.hpp"
#include "onnx/import/steps.hpp"

namespace mase::onnx {
namespace {

/// An element type that codes have: integers of a range, or floats of a format.
struct CodeRow {
  ElementType type;
  int bits;
  bool is_signed;
  std::string_view format = {};  ///< "" for integers
};

constexpr CodeRow code_rows[] = {
    {ElementType::uint8, 8, false},
    {ElementType::int8, 8, true},
    {ElementType::uint16, 16, false},
    {ElementType::int16, 16, true},
    {ElementType::int32, 32, true},
    {ElementType::uint4, 4, false},
    {ElementType::int4, 4, true},
    {ElementType::uint2, 2, false},
    {ElementType::int2, 2, true},
    {ElementType::float8e4m3fn, 8, true, "fp8_e4m3"},
    {ElementType::float8e5m2, 8, true, "fp8_e5m2"},
    {ElementType::float4e2m1, 4, true, "fp4_e2m1"},
};

const CodeRow& code_row(Call& call, ElementType type) {
  const auto* row = std::ranges::find(code_rows, type, &CodeRow::type);
  if (row == std::end(code_rows)) call.refuse("no format has the codes of " + element_name(type));
  return *row;
}

/// The element type of an operand.
ElementType type_of(Call& call, std::size_t i) {
  const Operand& one = call.operand(i);
  if (one.codes) return one.codes->type;
  const bool named = one.constant && one.constant->type != ElementType::undefined;
  return named ? one.constant->type : element_of(call.dtype(i));
}

/// Stored codes as numbers: where no dtype has the type, they are bits in bytes.
Array numbers_of_codes(Call& call, const Array& codes, ElementType type) {
  const ElementRow* element = find_element(type);
  if (!element->coded || codes.dtype() == DType::float32) return codes;
  const CodeRow& row = code_row(call, type);
  const auto bytes = codes.span<std::uint8_t>();
  Array numbers(DType::float32, codes.shape());
  std::span<float> all = numbers.mutable_span<float>();
  if (!row.format.empty()) {
    const std::vector<std::uint32_t> words(bytes.begin(), bytes.end());
    const formats::Format format = formats::format_of(row.format, Tree::dict());
    format.decode({formats::pack_codes(words, row.bits), {}, {}}, all, codes.shape());
    return numbers;
  }
  const int half = 1 << (row.bits - 1);
  std::ranges::transform(bytes, all.begin(), [&](std::uint8_t byte) {
    const int code = byte & (2 * half - 1);
    return static_cast<float>(row.is_signed && code >= half ? code - 2 * half : code);
  });
  return numbers;
}

/// A scale or zero point of `call` as it broadcasts to a tensor: one for all, one for each index of
/// an axis, or one for each block along it.
Array broadcast_to(Call& call, const Array& given, const Shape& shape, std::int64_t axis,
                   std::int64_t block) {
  if (given.size() == 0) call.wrong("its scale or zero point is empty");
  if (given.size() == 1) return Array::from(given.span<float>(), {});
  const auto dim = static_cast<std::size_t>(call.axis(axis, std::ssize(shape)));
  if (block == 0) {
    Shape spread(shape.size(), 1);
    spread[dim] = shape[dim];
    if (given.size() != shape[dim]) call.wrong("its scale does not fit its axis");
    return Array::from(given.span<float>(), spread);
  }
  Shape fits = shape;
  fits[dim] = (shape[dim] + block - 1) / block;
  if (given.shape() != fits) call.wrong("its scale does not fit its blocks");
  Array all(DType::float32, shape);
  const std::int64_t inner =
      numel({shape.begin() + static_cast<std::int64_t>(dim) + 1, shape.end()});
  std::span<float> to = all.mutable_span<float>();
  for (std::int64_t i = 0; i < all.size(); ++i) {
    const std::int64_t outer = i / inner / shape[dim], at = i / inner % shape[dim];
    to[static_cast<std::size_t>(i)] = given.span<float>()[static_cast<std::size_t>(
        (outer * fits[dim] + at / block) * inner + i % inner)];
  }
  return all;
}

/// Where the scale and the zero point of a tensor stand among the operands.
struct Places {
  std::size_t scale, zero;
};

/// The scale and zero point of a tensor of this shape, whose codes have this type.
Quantizer quantizer_of(Call& call, Places at, const Shape& shape, ElementType type,
                       std::int64_t axis = 1, std::int64_t block = 0) {
  Quantizer quantizer;
  quantizer.scale = broadcast_to(call, float_constant(call, at.scale, "scale"), shape, axis, block);
  quantizer.zero = Array::from(std::vector<float>{0}, {});
  if (call.has(at.zero)) {
    const Array* zero = call.constant(at.zero);
    if (!zero) call.refuse("its zero point is computed by the model; it must be a constant");
    const Array numbers = numbers_of_codes(call, *zero, type_of(call, at.zero)).to_float32();
    quantizer.zero = broadcast_to(call, numbers, shape, axis, block);
  }
  const CodeRow& row = code_row(call, type);
  set_range(quantizer, row.bits, row.is_signed, false);
  return quantizer;
}

bool same_values(const Array& a, const Array& b) {
  return std::ranges::equal(a.span<float>(), b.span<float>());
}

/// The values of codes: those of the tensor that was quantized, if it is known.
ir::NodeId dequantized(Call& call, std::size_t i, const Quantizer& quantizer) {
  const auto codes = call.operand(i).codes;
  if (codes && same_values(codes->scale, quantizer.scale) &&
      same_values(codes->zero, quantizer.zero))
    return codes->values;
  const ir::NodeId floats = converted(call, call.tensor(i), DType::float32);
  return multiplied(call, subtracted(call, floats, quantizer.zero), quantizer.scale);
}

/// The same as a constant, if the codes are constants.
std::optional<Constant> dequantized_constant(Call& call, std::size_t i,
                                             const Quantizer& quantizer) {
  const Array* codes = call.constant(i);
  if (!codes) return std::nullopt;
  const ElementType type = type_of(call, i);
  Constant constant = *call.operand(i).constant;
  constant.value = values_of(quantizer, numbers_of_codes(call, *codes, type));
  constant.path.clear();
  constant.type = ElementType::undefined;
  const CodeRow& row = code_row(call, type);
  if (row.format.empty())
    constant.formats = formats_of(quantizer);
  else if (uniform(quantizer.scale) == 1)
    constant.formats = {formats::format_of(row.format, Tree::dict())};
  return constant;
}

void dequantize_linear(Call& call) {
  const ElementType type = type_of(call, 0);
  const Quantizer quantizer = quantizer_of(call, {1, 2}, call.shape(0), type,
                                           call.integer("axis", 1), call.integer("block_size", 0));
  if (auto constant = dequantized_constant(call, 0, quantizer))
    return call.result(Operand{.constant = std::move(constant)});
  call.result(dequantized(call, 0, quantizer));
}

/// The codes of x, of which readers may take `values`.
Operand with_codes(Call& call, const Quantizer& quantizer, ir::NodeId x, ir::NodeId values,
                   ElementType type) {
  Codes codes{values, quantizer.scale, quantizer.zero, type};
  ir::NodeId node = codes_of(call, quantizer, x);
  // LibTorch computes nothing in uint16; its codes are the same numbers in int32.
  if (const auto dtype = type == ElementType::uint16 ? DType::int32 : dtype_of(type))
    node = converted(call, node, *dtype);
  return {.node = node, .codes = std::make_shared<const Codes>(std::move(codes))};
}

/// A result as codes, of which readers may take the values.
void result_codes(Call& call, const Quantizer& quantizer, ir::NodeId x, ElementType type) {
  const ir::NodeId values = quantized(call, quantizer, x);
  call.result(with_codes(call, quantizer, x, values, type));
}

/// Codes that are floats of a format, without codes of their own in the graph.
void result_floats(Call& call, const Quantizer& quantizer, const CodeRow& row) {
  Tree fields = Tree::dict();
  fields["saturate"] = call.integer("saturate", 1) != 0;
  if (row.format == "fp4_e2m1") fields = Tree::dict();
  const ir::NodeId codes = rounded_to(call, divided(call, call.tensor(0), quantizer.scale),
                                      formats::format_of(row.format, fields));
  const ir::NodeId values = multiplied(call, codes, quantizer.scale);
  call.result(Operand{.node = codes,
                      .codes = std::make_shared<const Codes>(
                          Codes{values, quantizer.scale, quantizer.zero, row.type})});
}

void quantize_linear(Call& call) {
  const auto given = static_cast<ElementType>(call.integer("output_dtype", 0));
  const ElementType type = call.has(2)                       ? type_of(call, 2)
                           : given != ElementType::undefined ? given
                                                             : ElementType::uint8;
  const CodeRow& row = code_row(call, type);
  const Quantizer quantizer = quantizer_of(call, {1, 2}, call.shape(0), type,
                                           call.integer("axis", 1), call.integer("block_size", 0));
  if (!row.format.empty()) return result_floats(call, quantizer, row);
  const Array* x = call.constant(0);
  if (!x) return result_codes(call, quantizer, call.tensor(0), type);
  Constant constant = *call.operand(0).constant;
  // As floats: the numbers of the codes are what DequantizeLinear reads.
  constant.value = codes_of(quantizer, *x);
  constant.type = type;
  constant.path.clear();
  call.result(Operand{.constant = std::move(constant)});
}

/// Whether two tensors have codes of the same quantizer.
bool alike(const Codes& a, const Codes& b) {
  return a.type == b.type && same_values(a.scale, b.scale) && same_values(a.zero, b.zero);
}

/// The codes that all operands of operand 0's dtype are; null where they are not, where channels
/// have scales of their own, and where float32 quotients of values might not round to the codes.
std::shared_ptr<const Codes> codes_of_all(Call& call) {
  constexpr int most_bits = 16;
  const auto codes = call.count() > 0 && !call.value(0).items ? call.operand(0).codes : nullptr;
  if (!codes || codes->scale.size() != 1 || codes->zero.size() != 1) return nullptr;
  const CodeRow& row = code_row(call, codes->type);
  if (!row.format.empty() || row.bits > most_bits) return nullptr;
  for (std::size_t i = 1; i < call.count(); ++i) {
    if (!call.has(i) || call.dtype(i) != call.dtype(0)) continue;
    const auto others = call.operand(i).codes;
    if (!others || !alike(*codes, *others)) return nullptr;
  }
  return codes;
}

/// Gives the results of a call, which are values, as codes.
void recode_results(Call& call, const Codes& codes) {
  Quantizer quantizer{codes.scale, codes.zero};
  const CodeRow& row = code_row(call, codes.type);
  set_range(quantizer, row.bits, row.is_signed, false);
  for (std::size_t i = 0; i < call.results(); ++i) {
    if (!call.wants(i)) continue;
    Operand& result = *call.importer().find(call.node().outputs[i]);
    if (result.node == ir::no_node || !is_floating(call.info(result.node).dtype)) continue;
    result = with_codes(call, quantizer, result.node, result.node, codes.type);
  }
}

}  // namespace

std::function<void(Call&)> moving(void (*import)(Call&)) {
  return [import](Call& call) {
    const auto codes = codes_of_all(call);
    if (!codes) return import(call);
    std::map<std::string, Operand> kept;
    for (std::size_t i = 0; i < call.count(); ++i)
      if (call.has(i) && call.operand(i).codes) {
        const auto own = call.operand(i).codes;
        kept.emplace(call.node().inputs[i], call.operand(i));
        call.operand(i) = Operand{.node = own->values};
      }
    import(call);
    for (auto& [name, operand] : kept) *call.importer().find(name) = std::move(operand);
    recode_results(call, *codes);
  };
}

std::vector<Row> qdq_rows() {
  return {
      {"QuantizeLinear", 10, quantize_linear},
      {"DequantizeLinear", 10, dequantize_linear},
      // The names of onnxruntime, from before ONNX had types of other widths.
      {"QuantizeLinear", 1, quantize_linear, {}, "com.microsoft"},
      {"DequantizeLinear", 1, dequantize_linear, {}, "com.microsoft"},
  };
}

}  // namespace mase::onnx
