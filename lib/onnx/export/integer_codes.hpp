// SPDX-License-Identifier: Apache-2.0
// Formats as integers with steps, which quantizers of ONNX have.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/array.hpp"
#include "formats/format.hpp"

namespace mase::onnx {

/// Integers from low() to high() with one step, which is a power of two.
struct FixedPoint {
  int bits = 8, frac = 0;
  bool is_signed = true;
  std::string rounding = "nearest_even";

  double low() const;
  double high() const;
  double step() const;
};
/// nullopt for other formats, for several steps, and where profile `reference` may differ.
std::optional<FixedPoint> fixed_point_of(const formats::Format& format);

/// A tensor in a format: value = code * scale, exactly so in float32.
struct IntegerCodes {
  std::vector<double> codes;
  std::vector<float> scales;  ///< one, one for each index of dimension 0, or one for each row
  Shape scale_shape;          ///< that of the scales, with which they broadcast to the tensor
  int bits = 8;
  bool is_signed = true;
};
/// nullopt for formats whose values are not integers times such scales.
std::optional<IntegerCodes> integer_codes_of(const Array& value, const formats::Format& format);

/// The values of a tensor in a format.
Array rounded_values(const Array& value, const formats::Format& format);

}  // namespace mase::onnx
