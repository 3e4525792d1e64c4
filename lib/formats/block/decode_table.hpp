// SPDX-License-Identifier: Apache-2.0
// Decoding tiles whose values follow from two small codes, that of the element and that of the
// tile.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/block/block_engine.hpp"

namespace mase::formats {

/// Elements with more bits are decoded one by one.
constexpr int widest_decode_table = 8;

/// out[i] = value(codes[i], scales[tile of i]). Every pair that occurs is computed once, so that
/// `value` may be a slow definition. Element codes have `code_bits` <= widest_decode_table, scale
/// codes `scale_bits` <= 16.
template <class Value>
void decode_by_pairs(const Tiling& tiling, std::span<const std::uint32_t> codes, int code_bits,
                     std::span<const std::uint32_t> scales, int scale_bits, std::span<float> out,
                     const Value& value) {
  const std::size_t count = std::size_t{1} << code_bits;
  std::vector<std::vector<float>> tables(std::size_t{1} << scale_bits);
  const auto table_of = [&](std::uint32_t scale) -> const float* {
    std::vector<float>& table = tables[scale];
    for (std::size_t code = table.size(); code < count; ++code)
      table.push_back(value(static_cast<std::uint32_t>(code), scale));
    return table.data();
  };
  for_each_run(tiling, [&](std::size_t first, std::size_t length, std::size_t tile) {
    const float* const table = table_of(scales[tile]);
    for (std::size_t i = first; i < first + length; ++i) out[i] = table[codes[i]];
  });
}

}  // namespace mase::formats
