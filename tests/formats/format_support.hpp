// SPDX-License-Identifier: Apache-2.0
// Helpers of the tests of all formats: values that went through a format, and comparison of bits.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "formats/format.hpp"

namespace mase::formats {

inline std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

/// Equal bit patterns, or both NaN.
inline bool same_value(float a, float b) {
  return bits_of(a) == bits_of(b) || (std::isnan(a) && std::isnan(b));
}

/// Number of elements with other bits; NaN equals NaN.
inline std::size_t differences(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return a.size() + b.size();
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += !same_value(a[i], b[i]);
  return count;
}

/// The shape of a vector.
inline Shape shape_of(std::size_t count) { return {static_cast<std::int64_t>(count)}; }

inline std::vector<float> quantized(const Format& format, const std::vector<float>& in,
                                    const Shape& shape) {
  std::vector<float> out(in.size());
  format.quantize(in, out, shape);
  return out;
}

inline std::vector<float> quantized(const Format& format, const std::vector<float>& in) {
  return quantized(format, in, shape_of(in.size()));
}

inline std::vector<float> quantized(const std::string& text, const std::vector<float>& in,
                                    const Shape& shape) {
  return quantized(parse_format(text), in, shape);
}

inline std::vector<float> quantized(const std::string& text, const std::vector<float>& in) {
  return quantized(parse_format(text), in);
}

inline std::vector<float> decoded(const Format& format, const Encoded& encoded) {
  std::vector<float> out(encoded.codes.size());
  format.decode(encoded, out, shape_of(out.size()));
  return out;
}

}  // namespace mase::formats
