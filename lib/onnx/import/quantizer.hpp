// SPDX-License-Identifier: Apache-2.0
// Quantizers: how operators of quantized models round a tensor to integers with a scale, as formats
// of the graph's ports or, where no format says it, as operators.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "formats/format.hpp"
#include "onnx/import/call.hpp"

namespace mase::onnx {

/// code = clamp(round(x / scale + zero), low, high), value = (code - zero) * scale. Each operation
/// is one of float32, element by element.
struct Quantizer {
  Array scale, zero;         ///< float32, of shapes that broadcast to that of x
  double low = 0, high = 0;  ///< the least and the greatest code
  /// A mode of QONNX: ROUND (half to even), FLOOR, CEIL, UP, DOWN, HALF_UP or HALF_DOWN.
  std::string rounding = "ROUND";
  /// Whether the zero point is added before rounding, as QONNX does; ONNX adds it afterwards.
  bool zero_first = false;
};

/// The integers of `bits` bits; narrow ranges lack the last one in QONNX.
void set_range(Quantizer& quantizer, int bits, bool is_signed, bool narrow);
/// The only element, or the one that all elements equal; nullopt if they differ.
std::optional<float> uniform(const Array& array);
/// n where the number is 2^n; nullopt for others.
std::optional<int> power_of_two(float number);

/// A constant divided by the scale.
Array quotients_of(const Quantizer& quantizer, const Array& x);
/// The codes of a constant, in float32.
Array codes_of(const Quantizer& quantizer, const Array& x);
/// The values of codes, which are numbers of any dtype but float16 and bfloat16.
Array values_of(const Quantizer& quantizer, const Array& codes);
/// The formats that may hold the values of a constant, the best one first.
std::vector<formats::Format> formats_of(const Quantizer& quantizer);

/// The quantized tensor as a node. Rounding is by a format, so that a graph at level float leaves
/// it out; modes of rounding that no format has become operators.
ir::NodeId quantized(Call& call, const Quantizer& quantizer, ir::NodeId x);
/// The codes as a float32 tensor that operators compute, at every level.
ir::NodeId codes_of(Call& call, const Quantizer& quantizer, ir::NodeId x);

/// The format with unit steps and the given fraction bits that holds codes from low to high;
/// nullopt beyond 32 bits.
std::optional<formats::Format> integer_format(double low, double high, int frac,
                                              const std::string& rounding = "nearest_even");
/// A node with the values of x rounded to a format.
ir::NodeId rounded_to(Call& call, ir::NodeId x, formats::Format format);

// Operators on a tensor and a constant that broadcasts; a number where it is the same for all.
// What changes nothing gives no node.
ir::NodeId divided(Call& call, ir::NodeId x, const Array& by);
ir::NodeId multiplied(Call& call, ir::NodeId x, const Array& by);
ir::NodeId added(Call& call, ir::NodeId x, const Array& other);
ir::NodeId subtracted(Call& call, ir::NodeId x, const Array& other);
ir::NodeId clamped(Call& call, ir::NodeId x, double low, double high);
/// x rounded by a mode of QONNX.
ir::NodeId rounded(Call& call, ir::NodeId x, const std::string& mode);
/// How an operator is imported that moves or chooses elements: between QuantizeLinear and
/// DequantizeLinear it acts on values, and gives codes of them.
std::function<void(Call&)> moving(void (*import)(Call&));
/// Operand i as a float32 constant; refused when the model computes it.
Array float_constant(Call& call, std::size_t i, const std::string& what);

}  // namespace mase::onnx
