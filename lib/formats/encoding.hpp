// SPDX-License-Identifier: Apache-2.0
// Common parts of encoding and decoding in all formats: refusals, and checks of stored codes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/codes.hpp"

namespace mase::formats {

/// Throws Error(Fault::file): element `index` is NaN, for which the format ("integer") has no code.
[[noreturn]] void refuse_nan(std::size_t index, std::string_view format);

/// Error(Fault::file) when the width or number of codes does not fit the format and the tensor's
/// shape.
void check_codes(const PackedCodes& codes, int bits, std::size_t count);

/// Error(Fault::file) when the number of scales does not fit the tensor's shape.
void check_scale_count(std::span<const float> scales, std::size_t count);

/// The codes of a tensor; Error(Fault::file) when their width or number does not fit the format and
/// the tensor's shape.
std::vector<std::uint32_t> codes_of(const PackedCodes& codes, int bits, std::size_t count);

/// The elements encoded or decoded at a time: floats and codes of a piece fit the nearest cache. It
/// is a multiple of 8, so that pieces of any width start at a byte.
constexpr std::size_t code_piece = 2048;

/// Packs `count` codes: `make(first, codes)` fills `codes` with those of elements from first on.
template <class Make>
PackedCodes encode_in_pieces(int bits, std::size_t count, const Make& make) {
  CodePacker packer(bits, count);
  std::array<std::uint32_t, code_piece> codes;
  for (std::size_t first = 0; first < count; first += code_piece) {
    const std::span<std::uint32_t> part(codes.data(), std::min(code_piece, count - first));
    make(first, part);
    packer.append(part);
  }
  return packer.finish();
}

/// Unpacks all codes: `take(first, codes)` receives those of the elements from first on.
template <class Take>
void decode_in_pieces(const PackedCodes& packed, const Take& take) {
  std::array<std::uint32_t, code_piece> codes;
  for (std::size_t first = 0; first < packed.size(); first += code_piece) {
    const std::span<std::uint32_t> part(codes.data(), std::min(code_piece, packed.size() - first));
    packed.unpack(first, part);
    take(first, std::span<const std::uint32_t>(part));
  }
}

/// out[i] = table[code i]; the table has a number for every code.
void look_up_values(const PackedCodes& packed, std::vector<float> table, std::span<float> out);

/// out[i] = value(code i), a number, rounded to float32. When a tensor has more elements than there
/// are codes, the values are looked up.
template <class Value>
void decode_by_table(const PackedCodes& packed, std::span<float> out, const Value& value) {
  if (!packed.empty() && packed.size() >> packed.bits() > 0) {
    std::vector<float> table(std::size_t{1} << packed.bits());
    for (std::uint32_t code = 0; code < table.size(); ++code)
      table[code] = static_cast<float>(value(code));
    return look_up_values(packed, std::move(table), out);
  }
  decode_in_pieces(packed, [&](std::size_t first, std::span<const std::uint32_t> codes) {
    for (std::size_t i = 0; i < codes.size(); ++i)
      out[first + i] = static_cast<float>(value(codes[i]));
  });
}

}  // namespace mase::formats
