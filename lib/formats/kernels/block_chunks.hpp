// Cutting the columns of a strip into chunks whose scratch fits on the stack. Included by kernel
// source files after their simd_*.hpp.
#pragma once

#include <algorithm>
#include <cstring>

#include "formats/kernels/block_strip.hpp"

namespace mase::formats::kernels {
namespace {

/// Columns that one step of a kernel takes: 4 KiB of every row.
constexpr std::size_t chunk_columns = 1024;

/// Columns begin .. end: whole tiles, or a part of one tile that is longer than a chunk.
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

/// Fewer elements than a vector holds; the other lanes are 0.
MASE_SIMD Simd::Vec load_part(const float* from, std::size_t count) {
  float part[Simd::width] = {};
  std::memcpy(part, from, count * sizeof(float));
  return Simd::load(part);
}

MASE_SIMD void store_part(float* to, Simd::Vec v, std::size_t count) {
  float part[Simd::width];
  Simd::store(part, v);
  std::memcpy(to, part, count * sizeof(float));
}

}  // namespace
}  // namespace mase::formats::kernels
