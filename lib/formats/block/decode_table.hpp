// SPDX-License-Identifier: Apache-2.0
// Decodes tiles whose values are determined by two small codes, that of the element and that of
// the tile.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/block/block_engine.hpp"
#include "formats/encoding.hpp"

namespace mase::formats {

/// Elements with more bits are decoded one by one.
constexpr int widest_decode_table = 8;

/// The codes of a tensor in order, unpacked a piece at a time: unpacked as a whole they would take
/// four bytes of memory each.
class CodeWindow {
 public:
  explicit CodeWindow(const PackedCodes& packed) : packed_(packed) {}

  /// The codes from `first` on: `wanted` codes, or as many as a piece holds.
  std::span<const std::uint32_t> from(std::size_t first, std::size_t wanted) {
    if (first < begin_ || first + std::min(wanted, codes_.size() / 2) > end_) unpack(first);
    return std::span(codes_).subspan(first - begin_, std::min(wanted, end_ - first));
  }

 private:
  void unpack(std::size_t first) {
    constexpr std::size_t aligned = 8;  // codes at multiples of 8 begin at a byte
    begin_ = first / aligned * aligned;
    end_ = std::min(packed_.size(), begin_ + codes_.size());
    packed_.unpack(begin_, std::span(codes_).first(end_ - begin_));
  }

  const PackedCodes& packed_;
  std::array<std::uint32_t, 2 * code_piece> codes_;
  std::size_t begin_ = 0, end_ = 0;
};

/// Codes that are already unpacked.
class CodeSpan {
 public:
  explicit CodeSpan(std::span<const std::uint32_t> codes) : codes_(codes) {}
  std::span<const std::uint32_t> from(std::size_t first, std::size_t wanted) const {
    return codes_.subspan(first, wanted);
  }

 private:
  std::span<const std::uint32_t> codes_;
};

/// out[i] = value(code of i) for `length` elements from `first` on.
template <class Codes, class Value>
void decode_run(Codes& codes, std::size_t first, std::size_t length, std::span<float> out,
                const Value& value) {
  for (std::size_t done = 0; done < length;) {
    const std::span<const std::uint32_t> part = codes.from(first + done, length - done);
    float* const to = out.data() + first + done;
    for (std::size_t i = 0; i < part.size(); ++i) to[i] = value(part[i]);
    done += part.size();
  }
}

/// out[i] = value(codes[i], scales[tile of i]). Every pair that occurs is computed once, so `value`
/// may be a slow definition. Element codes have `code_bits` <= widest_decode_table bits, and scale
/// codes `scale_bits` <= 16 bits.
template <class Codes, class Value>
void decode_by_pairs(const Tiling& tiling, Codes codes, int code_bits,
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
    decode_run(codes, first, length, out, [table](std::uint32_t code) { return table[code]; });
  });
}

}  // namespace mase::formats
