// SPDX-License-Identifier: Apache-2.0
// Decoding: a description, as data, of how stored codes become values, for use by other programs;
// and the TorchScript that carries it out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/tiling.hpp"

namespace mase::formats {

/// value = element(code) * scale, rounded once to float32. A scale is a factor looked up by the
/// shared code of the element's tile, a stored float32 scale, or the float32 product of both.
struct Decoding {
  int bits = 8;  ///< bits of an element's code
  /// The number for every code; when empty, the code is an integer of `bits` bits, times `step`.
  std::vector<double> elements = {};
  bool is_signed = true;
  double step = 1;  ///< a power of two

  /// The tiles that share a scale; nullopt when tiles have no scale.
  std::optional<Tiling> tiling = std::nullopt;
  int shared_bits = 0;               ///< bits of a tile's shared code; 0 without one
  std::vector<double> factors = {};  ///< factors by shared code
  /// Shared codes are stored with this dimension of the tiles last; -1 means in the tiles' order.
  int last_dimension = -1;
  enum class Scales { none, of_tiles, of_tensor } scales = Scales::none;  ///< stored float32 scales

  /// True when float32 can hold every operand, so that a float32 product is the value.
  bool fits_float() const;
};

/// The most bits of codes that are looked up; wider codes must be integers.
constexpr int widest_element_table = 16;

/// table[code] = value(code) for all codes of `bits` bits.
template <class Value>
std::vector<double> value_table(int bits, const Value& value) {
  std::vector<double> table;
  for (std::uint32_t code = 0; code < std::uint32_t{1} << bits; ++code)
    table.push_back(static_cast<double>(value(code)));
  return table;
}

/// The arguments and the body of a TorchScript function that decodes a tensor of this shape. The
/// arguments are the packed codes (uint8), the table of elements, the packed shared codes, the
/// table of factors and the scales, as far as the decoding has them; tables are float32 if
/// fits_float(), otherwise float64.
std::string decoding_source(const Decoding& decoding, const Shape& shape);

}  // namespace mase::formats
