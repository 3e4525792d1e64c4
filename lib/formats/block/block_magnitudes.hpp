// SPDX-License-Identifier: Apache-2.0
// Magnitudes of vectors and of whole tiles, as bits.
//
// Magnitudes are compared as integers: without the sign bit, the bits of floats are in the order
// of the floats.
#pragma once

#include "formats/block/block_chunks.hpp"

namespace mase::formats::kernels {
namespace {

using simd::Simd;

using Bits = Simd::Bits;

/// The most elements of as many tiles as a vector has lanes; they fit the nearest cache.
constexpr std::size_t largest_group = longest_run * Simd::width * Simd::width;

/// Magnitudes under a mask, which has no sign bits.
template <bool finite_only>
MASE_SIMD Bits magnitude(Simd::Vec x, Bits mask) {
  const Bits bits = Simd::and_bits(Simd::bits(x), mask);
  if constexpr (!finite_only) return bits;
  return Simd::select_less_bits(bits, Simd::all_bits(0x7f800000), bits, Simd::all_bits(0));
}

template <bool finite_only>
MASE_SIMD Bits magnitude(Simd::Vec x) {
  return magnitude<finite_only>(x, Simd::all_bits(0x7fffffff));
}

/// peaks_of_lanes for tiles of half a vector.
template <bool finite_only>
MASE_SIMD Bits peaks_of_halves(const float* row) {
  Bits peaks[Simd::width / 2];
#pragma GCC unroll 8
  for (std::size_t i = 0; i < Simd::width / 2; ++i)
    peaks[i] = magnitude<finite_only>(Simd::load(row + i * Simd::width));
  return Simd::largest_of_halves(peaks);
}

/// peaks_of_lanes for tiles of at least 2 elements that are shorter than a vector. Tiles of the
/// first half are read by vectors that begin with them, the others by vectors that end with them.
template <bool finite_only>
MASE_SIMD Bits peaks_of_parts(const float* row, std::size_t tile) {
  const Bits lanes = Simd::lanes_from(0), none = Simd::all_bits(0);
  const Bits all = Simd::all_bits(0x7fffffff);
  const auto length = static_cast<std::int32_t>(tile), width = std::int32_t{Simd::width};
  const Bits first = Simd::select_less_bits(lanes, Simd::all_bits(length), all, none);
  const Bits last = Simd::select_less_bits(lanes, Simd::all_bits(width - length), none, all);
  Bits peaks[Simd::width];
#pragma GCC unroll 8
  for (std::size_t t = 0; t < Simd::width / 2; ++t, row += tile)
    peaks[t] = magnitude<finite_only>(Simd::load(row), first);
  row -= Simd::width - tile;
#pragma GCC unroll 8
  for (std::size_t t = Simd::width / 2; t < Simd::width; ++t, row += tile)
    peaks[t] = magnitude<finite_only>(Simd::load(row), last);
  return Simd::largest_of_each(peaks);
}

/// The peaks of as many tiles of one row as a vector has lanes; reads no other elements. A tile is
/// `vectors` vectors, or any number for 0. (It is a separate function that all operations share.)
template <bool finite_only, std::size_t vectors = 0>
[[gnu::noinline]] MASE_SIMD_TARGET Bits peaks_of_lanes(const float* row, std::size_t length) {
  const std::size_t tile = vectors == 0 ? length : vectors * Simd::width;
  if (tile == 1) return magnitude<finite_only>(Simd::load(row));
  if (2 * tile == Simd::width) return peaks_of_halves<finite_only>(row);
  if (tile < Simd::width) return peaks_of_parts<finite_only>(row, tile);
  Bits peaks[Simd::width];
  for (std::size_t t = 0; t < Simd::width; ++t, row += tile) {
    peaks[t] = magnitude<finite_only>(Simd::load(row));
    // The last vector ends with the tile.
    for (std::size_t i = Simd::width; i < tile; i += Simd::width) {
      const float* const part = row + std::min(i, tile - Simd::width);
      peaks[t] = Simd::max_bits(peaks[t], magnitude<finite_only>(Simd::load(part)));
    }
  }
  return Simd::largest_of_each(peaks);
}

}  // namespace
}  // namespace mase::formats::kernels
