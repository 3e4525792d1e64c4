// SPDX-License-Identifier: Apache-2.0
// Looks up numbers by the lanes of a vector; small tables are held in registers.
//
// A table is a class made from the 2^bits numbers, with `Vec operator()(Bits codes) const`.
#pragma once

#include <cstddef>
#include <type_traits>

#include "simd/parts.hpp"

namespace mase::simd {
namespace {

/// A table in memory, of any number of bits.
class MemoryTable {
 public:
  MASE_SIMD explicit MemoryTable(const float* values) : values_(values) {}
  MASE_SIMD Simd::Vec operator()(Simd::Bits codes) const { return Simd::gathered(values_, codes); }

 private:
  const float* values_;
};

#if MASE_SIMD_SET == 0
template <int bits>
using Table = MemoryTable;
#else
/// The bits that choose a lane of two vectors, and the bits of the largest table in 32 registers.
constexpr int lane_bits = Simd::width == 8 ? 4 : 5, widest_register_table = lane_bits == 4 ? 4 : 8;

/// A table in pairs of vectors: each pair gives a number, and the code's upper bits choose one.
template <int bits>
class RegisterTable {
 public:
  MASE_SIMD explicit RegisterTable(const float* values) {
    for (std::size_t v = 0; v < vectors; ++v) {
      const std::size_t first = v * Simd::width;
      vector_[v] = first + Simd::width <= size ? Simd::load(values + first)
                   : first < size              ? load_part(values, size)
                                               : Simd::all(0.0F);
    }
  }
  MASE_SIMD Simd::Vec operator()(Simd::Bits codes) const { return among<bits>(vector_, codes); }

 private:
  static constexpr std::size_t size = std::size_t{1} << bits;
  static constexpr std::size_t vectors = size > 2 * Simd::width ? size / Simd::width : 2;

  /// Looks up the table that the lowest `low` bits of the codes index.
  template <int low>
  MASE_SIMD static Simd::Vec among(const Simd::Vec* table, Simd::Bits codes) {
    if constexpr (low <= lane_bits) {
      return Simd::joined(table[0], table[1], codes);
    } else {
      const Simd::Vec upper = among<low - 1>(table + ((1 << (low - 1)) / Simd::width), codes);
      const Simd::Bits top = Simd::shift_left<32 - low>(codes);  // sign: the code's top bit
      return Simd::floats(Simd::select_less_bits(top, Simd::all_bits(0), Simd::bits(upper),
                                                 Simd::bits(among<low - 1>(table, codes))));
    }
  }

  Simd::Vec vector_[vectors];
};

template <int bits>
using Table = std::conditional_t<bits <= widest_register_table, RegisterTable<bits>, MemoryTable>;
#endif

}  // namespace
}  // namespace mase::simd
