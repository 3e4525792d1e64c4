// SPDX-License-Identifier: Apache-2.0
// Cuts the columns of a strip into chunks whose scratch memory fits on the stack.
#pragma once

#include <algorithm>

#include "formats/block/block_strip.hpp"
#include "simd/parts.hpp"

namespace mase::formats::kernels {
namespace {

using simd::load_part;
using simd::Simd;
using simd::store_part;

/// The columns that one step of a kernel processes: 16 KiB of every row.
constexpr std::size_t chunk_columns = 4096;

/// How far ahead of reading to prefetch: memory delivers several pages at a time faster than one,
/// and hardware prefetching ends at the page.
constexpr std::ptrdiff_t fetch_ahead = 2048;

/// The columns begin .. end: whole tiles, or a part of a tile that is longer than a chunk.
struct Chunk {
  std::size_t begin = 0, end = 0;
  std::size_t size() const { return end - begin; }
};

MASE_SIMD Chunk chunk_from(const Strip& strip, std::size_t begin) {
  if (strip.tile <= chunk_columns)
    return {begin, std::min(strip.columns, begin + chunk_columns / strip.tile * strip.tile)};
  const std::size_t tile_end = (begin / strip.tile + 1) * strip.tile;
  return {begin, std::min({strip.columns, tile_end, begin + chunk_columns})};
}

/// Calls visit(t, first, last) for the part [first, last) of every tile t in a chunk, as columns of
/// the chunk. (It does not divide per tile, which would take as long as the tile's elements.)
template <class Visit>
MASE_SIMD void for_each_part(const Chunk& chunk, std::size_t tile, const Visit& visit) {
  std::size_t t = chunk.begin / tile;
  std::size_t first = 0, last = (t + 1) * tile - chunk.begin;
  for (; first < chunk.size(); ++t, first = last, last += tile)
    visit(t, first, std::min(last, chunk.size()));
}

}  // namespace
}  // namespace mase::formats::kernels
