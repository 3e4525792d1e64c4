// SPDX-License-Identifier: Apache-2.0
// The largest magnitudes of columns of several rows, and of tiles of such columns.
#pragma once

#include <cstring>

#include "formats/block/block_magnitudes.hpp"

namespace mase::formats::kernels {
namespace {

/// The rows that are read at the same time: memory delivers several streams faster than one.
constexpr std::size_t row_group = 4;

/// Raises peaks[c] to the largest magnitude of column c in some rows, in whole vectors. Prefetches
/// the elements `ahead` of those that are read.
template <bool finite_only, std::size_t rows>
MASE_SIMD void add_rows(const float* const (&row)[row_group], std::size_t count,
                        std::ptrdiff_t ahead, std::int32_t* peaks) {
  std::size_t c = 0;
  for (; c + Simd::width <= count; c += Simd::width) {
    Bits largest = Simd::load_bits(peaks + c);
#pragma GCC unroll 4
    for (std::size_t r = 0; r < rows; ++r) {
      __builtin_prefetch(row[r] + c + ahead);
      largest = Simd::max_bits(largest, magnitude<finite_only>(Simd::load(row[r] + c)));
    }
    Simd::store_bits(peaks + c, largest);
  }
  for (std::size_t r = 0; c < count && r < rows; ++r)
    Simd::store_bits(peaks + c,
                     Simd::max_bits(Simd::load_bits(peaks + c),
                                    magnitude<finite_only>(load_part(row[r] + c, count - c))));
}

/// column_peaks[c] = max over the rows, for the columns of a chunk; in whole vectors.
template <bool finite_only>
MASE_SIMD void column_peaks(const Strip& strip, const Chunk& chunk, std::int32_t* peaks) {
  std::memset(peaks, 0, (chunk.size() + Simd::width) * sizeof(std::int32_t));
  const float* const in = strip.in + chunk.begin;
  std::size_t r = 0;
  for (; r + row_group <= strip.row_count; r += row_group) {
    const std::size_t* const at = strip.rows + r;
    add_rows<finite_only, row_group>({in + at[0], in + at[1], in + at[2], in + at[3]}, chunk.size(),
                                     static_cast<std::ptrdiff_t>(row_group * (at[1] - at[0])),
                                     peaks);
  }
  for (; r < strip.row_count; ++r)
    add_rows<finite_only, 1>({in + strip.rows[r]}, chunk.size(), fetch_ahead, peaks);
}

MASE_SIMD std::int32_t largest_of(const std::int32_t* values, std::size_t count) {
  std::int32_t peak = 0;
  std::size_t i = 0;
  if (count >= 2 * Simd::width) {
    Bits many = Simd::all_bits(0);
    for (; i + Simd::width <= count; i += Simd::width)
      many = Simd::max_bits(many, Simd::load_bits(values + i));
    peak = Simd::largest(many);
  }
  for (; i < count; ++i) peak = std::max(peak, values[i]);
  return peak;
}

}  // namespace
}  // namespace mase::formats::kernels
