// SPDX-License-Identifier: Apache-2.0
// Decoding: how stored codes become values again, as data that another program can follow, and the
// TorchScript that follows it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/tiling.hpp"

namespace mase::formats {

/// value = element(code) * scale, rounded to float32 once. A scale is a factor looked up by the
/// shared code of the element's tile, a stored float32 scale, or the float32 product of both.
struct Decoding {
  int bits = 8;  ///< of the code of an element
  /// Numbers by code; empty: the code is an integer in `bits` bits and counts `step`.
  std::vector<double> elements = {};
  bool is_signed = true;
  double step = 1;  ///< a power of two

  /// The tiles that share a scale; nothing when no tile has one.
  std::optional<Tiling> tiling = std::nullopt;
  int shared_bits = 0;               ///< of a tile's shared code; 0: there is none
  std::vector<double> factors = {};  ///< by shared code
  /// Shared codes are stored with this dimension of the tiles last; -1: in the tiles' order.
  int last_dimension = -1;
  enum class Scales { none, of_tiles, of_tensor } scales = Scales::none;  ///< stored float32 scales

  /// Whether float32 holds every operand, so that its product is the rounded one.
  bool fits_float() const;
};

/// Codes that are looked up have at most this many bits; wider ones must be integers.
constexpr int widest_element_table = 16;

/// table[code] = value(code) for all codes of `bits` bits.
template <class Value>
std::vector<double> value_table(int bits, const Value& value) {
  std::vector<double> table;
  for (std::uint32_t code = 0; code < std::uint32_t{1} << bits; ++code)
    table.push_back(static_cast<double>(value(code)));
  return table;
}

/// What stands behind the name of a TorchScript function that decodes a tensor of this shape:
/// arguments and body. The arguments are the packed codes (uint8), the table of elements, the
/// packed shared codes, the table of factors and the scales, as far as the decoding has them;
/// tables are float32 where fits_float(), else float64.
std::string decoding_source(const Decoding& decoding, const Shape& shape);

}  // namespace mase::formats
