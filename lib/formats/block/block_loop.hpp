// SPDX-License-Identifier: Apache-2.0
// Applies a vector operation to the tiles of a strip, with factors that differ from tile to
// tile.
//
// An operation is a struct with `static constexpr std::size_t factors` and
//   Simd::Vec operator()(Simd::Vec x, const Lanes<factors>& tile) const
// where tile.factor[k] holds, in every lane, factor k of that lane's tile. Its result may be any 32
// bits, such as codes.
#pragma once

#include "formats/block/block_lanes.hpp"
#include "formats/block/block_offsets.hpp"
#include "formats/block/vector_writers.hpp"

namespace mase::formats::kernels {
namespace {

using simd::Simd;

/// Pointers to the arrays of factors, read once: as far as a compiler knows, stores to the output
/// might change what TileFactors holds.
template <std::size_t count>
struct FactorArrays {
  const float* of[count];

  MASE_SIMD static FactorArrays from(const TileFactors& factors, std::size_t first_tile) {
    FactorArrays arrays;
    for (std::size_t k = 0; k < count; ++k) arrays.of[k] = factors.of(k) + first_tile;
    return arrays;
  }
  /// The factors of a tile, the same in all lanes.
  MASE_SIMD Lanes<count> at(std::size_t tile) const {
    Lanes<count> lanes;
    for (std::size_t k = 0; k < count; ++k) lanes.factor[k] = Simd::all(of[k][tile]);
    return lanes;
  }
};

/// The factors of each column of a chunk, for tiles that are not whole vectors.
template <std::size_t count>
struct ColumnFactors {
  static constexpr std::size_t stride = chunk_columns + Simd::width;
  alignas(64) float own[count][stride];
  const float* of[count];

  /// Uses the factors in `own`, which has been filled in whole vectors.
  MASE_SIMD void use_own() {
    for (std::size_t k = 0; k < count; ++k) of[k] = own[k];
  }
  // A store may run into the next tile, which is stored later.
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
  /// The factors of a vector of columns.
  MASE_SIMD Lanes<count> from(std::size_t column) const {
    Lanes<count> lanes;
    for (std::size_t k = 0; k < count; ++k) lanes.factor[k] = Simd::load(of[k] + column);
    return lanes;
  }
  MASE_SIMD Lanes<count> at(std::size_t vector) const { return from(vector * Simd::width); }
};

template <class Op, std::size_t count>
MASE_SIMD Simd::Vec applied(const Op& op, Simd::Vec x, const Lanes<count>& lanes,
                            const float* offsets) {
  if constexpr (TakesOffsets<Op>)
    return op(x, lanes, Simd::load(offsets));
  else
    return op(x, lanes);
}

/// Writes the elements after the whole vectors of a row. (It is a separate function because it is
/// rare and serves both kinds of factors.)
template <class Op, std::size_t factors>
[[gnu::noinline]] MASE_SIMD_TARGET void write_part(const Op& op, const Lanes<factors>& lanes,
                                                   const float* in, float* out,
                                                   const float* offsets, std::size_t count) {
  store_part(out, applied(op, load_part(in, count), lanes, offsets), count);
}

/// Writes one row of a chunk; `next` is the row that is read after it.
template <class Writer, class Op, class Factors>
MASE_SIMD void write_row(Writer writer, const Op& op, const Factors& factors, std::size_t tile,
                         std::size_t count, const float* in, float* out, const float* next,
                         Offsets<Op>& offsets) {
  const std::size_t whole = count - count % Simd::width;
  std::size_t c = 0;
  for (std::size_t t = 0; c < whole; ++t)
    for (const auto lanes = factors.at(t); c < std::min(whole, (t + 1) * tile); c += Simd::width) {
      __builtin_prefetch(next + c);
      writer.write(applied(op, Simd::load(in + c), lanes, offsets.next()));
    }
  writer.finish();
  if (c < count) write_part(op, factors.at(c / tile), in + c, out + c, offsets.next(), count - c);
}

/// Writes the rows of a chunk; element c of a row has factors.at(c / tile). It begins with the last
/// rows, which the search for peaks has just read.
template <class Op, class Factors>
MASE_SIMD void write_rows(const Op& op, const Factors& factors, std::size_t tile,
                          const Chunk& chunk, const Strip& strip) {
  Offsets<Op> offsets(strip.seed);
  for (std::size_t r = strip.row_count; r-- > 0;) {
    const float* const in = strip.in + strip.rows[r] + chunk.begin;
    const float* const next = r > 0 ? strip.in + strip.rows[r - 1] + chunk.begin : in + fetch_ahead;
    float* const out = strip.out + strip.rows[r] + chunk.begin;
    offsets.start(strip.index + strip.rows[r] + chunk.begin);
    if constexpr (streams<Op> && !IsLong<Op>)
      if (strip.streaming) {
        write_row(StreamWriter<Simd>(out), op, factors, tile, chunk.size(), in, out, next, offsets);
        continue;
      }
    write_row(VectorWriter(out), op, factors, tile, chunk.size(), in, out, next, offsets);
  }
}

/// out = op(in, factors of the element's tile) for every element of the strip. After streaming, the
/// caller calls stream_fence().
template <class Op>
MASE_SIMD void apply_tiles(const Op& op, const Strip& strip, const TileFactors& factors) {
  ColumnFactors<Op::factors> columns;
  const bool by_tile = strip.tile % Simd::width == 0 || strip.tile > chunk_columns;
  for (Chunk chunk; chunk.end < strip.columns;) {
    chunk = chunk_from(strip, chunk.end);
    if (by_tile) {
      write_rows(op, FactorArrays<Op::factors>::from(factors, chunk.begin / strip.tile), strip.tile,
                 chunk, strip);
    } else {
      columns.spread(factors, chunk, strip.tile);
      write_rows(op, columns, Simd::width, chunk, strip);
    }
  }
}

}  // namespace
}  // namespace mase::formats::kernels
