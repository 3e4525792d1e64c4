// Applying a vector operation to the tiles of a strip, with factors that differ from tile to tile.
// Included by the kernel source files of block formats after their simd_*.hpp.
//
// An operation is a struct with `static constexpr std::size_t factors` and
//   Simd::Vec operator()(Simd::Vec x, const Lanes<factors>& tile) const
// where tile.factor[k] holds, in every lane, factor k of that lane's tile. It may give any 32 bits,
// such as codes.
#pragma once

#include "formats/kernels/block_chunks.hpp"

namespace mase::formats::kernels {
namespace {

template <std::size_t count>
struct Lanes {
  Simd::Vec factor[count];
};

/// The factors' arrays, read once: stores to the output might change what TileFactors holds, as far
/// as a compiler knows.
template <std::size_t count>
struct FactorArrays {
  const float* of[count];

  MASE_SIMD static FactorArrays from(const TileFactors& factors) {
    FactorArrays arrays;
    for (std::size_t k = 0; k < count; ++k) arrays.of[k] = factors.of(k);
    return arrays;
  }
  /// Factors of a tile, the same in all lanes.
  MASE_SIMD Lanes<count> at(std::size_t tile) const {
    Lanes<count> lanes;
    for (std::size_t k = 0; k < count; ++k) lanes.factor[k] = Simd::all(of[k][tile]);
    return lanes;
  }
};

/// Factors per column of a chunk, for tiles that are no whole vectors.
template <std::size_t count>
struct ColumnFactors {
  static constexpr std::size_t stride = chunk_columns + Simd::width;
  alignas(64) float own[count][stride];
  const float* of[count];

  // Each store may run into the next tile, whose own store comes later.
  MASE_SIMD void spread(const TileFactors& factors, const Chunk& chunk, std::size_t tile) {
    const std::size_t first = chunk.begin / tile, tiles = (chunk.size() + tile - 1) / tile;
    for (std::size_t k = 0; k < count; ++k) {
      const float* const values = factors.of(k) + first;
      of[k] = tile == 1 ? values : own[k];
      float* to = own[k];
      for (std::size_t t = 0; tile > 1 && t < tiles; ++t, to += tile) {
        const Simd::Vec value = Simd::all(values[t]);
        for (std::size_t i = 0; i < tile; i += Simd::width) Simd::store(to + i, value);
      }
    }
  }
  MASE_SIMD Lanes<count> at(std::size_t column) const {
    Lanes<count> lanes;
    for (std::size_t k = 0; k < count; ++k) lanes.factor[k] = Simd::load(of[k] + column);
    return lanes;
  }
};

/// Applies an operation to a part of a tile.
template <class Op>
struct OnPart {
  Op op;
  FactorArrays<Op::factors> factors;
  const float* in;
  float* out;

  MASE_SIMD void operator()(std::size_t t, std::size_t at, std::size_t end) const {
    const Lanes<Op::factors> lanes = factors.at(t);
    for (; at + Simd::width <= end; at += Simd::width)
      Simd::store(out + at, op(Simd::load(in + at), lanes));
    if (at < end) store_part(out + at, op(load_part(in + at, end - at), lanes), end - at);
  }
};

template <class Op>
MASE_SIMD void apply_by_column(const Op& op, const ColumnFactors<Op::factors>& factors,
                               std::size_t count, const float* in, float* out) {
  std::size_t c = 0;
  for (; c + Simd::width <= count; c += Simd::width)
    Simd::store(out + c, op(Simd::load(in + c), factors.at(c)));
  if (c < count) store_part(out + c, op(load_part(in + c, count - c), factors.at(c)), count - c);
}

/// Copies past the caches. (Set is Simd: a parameter so that sets without such stores compile.)
template <class Set>
MASE_SIMD void copy_streaming(const float* from, float* to, std::size_t count) {
  const std::size_t misaligned =
      (0 - reinterpret_cast<std::uintptr_t>(to)) / sizeof(float) % Simd::width;
  std::size_t i = std::min(misaligned, count);
  std::memcpy(to, from, i * sizeof(float));
  for (; i + Simd::width <= count; i += Simd::width) Set::stream(to + i, Set::load(from + i));
  std::memcpy(to + i, from + i, (count - i) * sizeof(float));
}

/// out = op(in, factors of the element's tile) for every element of the strip. The caller ends
/// streaming with stream_fence().
template <class Op>
MASE_SIMD void apply_tiles(const Op& op, const Strip& strip, const TileFactors& factors) {
  alignas(64) float buffer[chunk_columns];
  ColumnFactors<Op::factors> columns;
  const auto arrays = FactorArrays<Op::factors>::from(factors);
  const bool by_tile = strip.tile % Simd::width == 0 || strip.tile > chunk_columns;
  const bool streaming = Simd::can_stream && strip.streaming;
  for (Chunk chunk; chunk.end < strip.columns;) {
    chunk = chunk_from(strip, chunk.end);
    if (!by_tile) columns.spread(factors, chunk, strip.tile);
    for (std::size_t r = 0; r < strip.row_count; ++r) {
      const std::size_t offset = strip.rows[r] + chunk.begin;
      float* const out = streaming ? buffer : strip.out + offset;
      if (by_tile)
        for_each_part(chunk, strip.tile, OnPart<Op>{op, arrays, strip.in + offset, out});
      else
        apply_by_column(op, columns, chunk.size(), strip.in + offset, out);
      if constexpr (Simd::can_stream)
        if (streaming) copy_streaming<Simd>(buffer, strip.out + offset, chunk.size());
    }
  }
}

}  // namespace
}  // namespace mase::formats::kernels
