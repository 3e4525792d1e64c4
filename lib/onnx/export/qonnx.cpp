// SPDX-License-Identifier: Apache-2.0
// Formats as operators of QONNX: Quant, and BipolarQuant for signs.
#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.hpp"
#include "onnx/export/dialects.hpp"
#include "onnx/export/integer_codes.hpp"

namespace mase::onnx {
namespace {

const std::map<std::string, std::string>& rounding_modes() {
  static const std::map<std::string, std::string> modes{
      {"nearest_even", "ROUND"}, {"floor", "FLOOR"}, {"nearest_away", "HALF_UP"}};
  return modes;
}

/// The integers of a quantizer.
struct QuantRange {
  int bits;
  bool is_signed, narrow;
};

std::string quant(NodeWriter& node, const std::string& x, const std::string& scale,
                  const QuantRange& range, const std::string& mode) {
  return node.write_in(
      qonnx_domain, "Quant",
      {x, scale, node.scalar(0, DType::float32), node.scalar(range.bits, DType::float32)},
      {attribute("signed", std::int64_t{range.is_signed}),
       attribute("narrow", std::int64_t{range.narrow}), attribute("rounding_mode", mode)});
}

bool is_bipolar(const formats::Format& format) {
  return format.name() == "binary" && format.fields().at("bipolar").as_bool();
}

std::string qonnx_value(NodeWriter& node, const std::string& x, const formats::Format& given) {
  const formats::Format format = given.deterministic();
  if (is_bipolar(format) && !format.fields().at("scaled").as_bool())
    return node.write_in(qonnx_domain, "BipolarQuant", {x, node.scalar(1, DType::float32)}, {});
  const auto to = fixed_point_of(format);
  if (!to) node.refuse("Quant has constant scales and integers");
  if (to->bits == 1 && to->is_signed) node.refuse("Quant takes one signed bit for a sign");
  return quant(node, x, node.scalar(to->step(), DType::float32), {to->bits, to->is_signed, false},
               rounding_modes().at(to->rounding));
}

/// The tensor has the values of its codes, of which Quant gives the same again.
std::string qonnx_tensor(NodeWriter& node, const PortTensor& tensor,
                         const formats::Format& format) {
  const auto codes = integer_codes_of(tensor.value, format);
  if (!codes) node.refuse("its values are not integers times a scale for a row or channel");
  const bool signs = is_bipolar(format);
  if (format.name() == "binary" && !signs) node.refuse("BipolarQuant has the signs -1 and 1");
  if (codes->bits == 1 && codes->is_signed) node.refuse("Quant takes one signed bit for a sign");
  const std::string values = node.initializer(tensor.path + "_quantized", ElementType::float32,
                                              rounded_values(tensor.value, format));
  const std::string scale =
      node.constant(Array::from(codes->scales, codes->scale_shape), ElementType::float32);
  if (signs) return node.write_in(qonnx_domain, "BipolarQuant", {values, scale}, {});
  const double least = std::ranges::min(codes->codes);
  const bool narrow =
      codes->is_signed && least > -std::ldexp(1.0, codes->bits - 1) && format.name() != "integer";
  return quant(node, values, scale, {codes->bits, codes->is_signed, narrow}, "ROUND");
}

}  // namespace

const Dialect qonnx_dialect{qonnx_value, qonnx_tensor};

}  // namespace mase::onnx
