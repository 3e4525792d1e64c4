// SPDX-License-Identifier: Apache-2.0
// Applies a vector operation to tiles of several rows, one panel of columns at a time: peaks and
// factors are lanes of vectors, one for each column. block_runs.hpp describes factors.
#pragma once

#include "formats/block/block_column_peaks.hpp"
#include "formats/block/block_runs.hpp"

namespace mase::formats::kernels {
namespace {

using simd::Simd;

/// Gives every lane the largest lane of its tile. A vector holds whole tiles, whose size is a power
/// of two.
MASE_SIMD Bits largest_in_tiles(Bits peaks, std::size_t tile) {
  for (std::size_t distance = 1; distance < tile; distance *= 2) {
    const Bits other =
        Simd::xor_bits(Simd::lanes_from(0), Simd::all_bits(static_cast<std::int32_t>(distance)));
    peaks = Simd::max_bits(peaks, Simd::bits(Simd::picked(Simd::floats(peaks), other)));
  }
  return peaks;
}

/// The same for a tile of any size.
struct SpreadPeak {
  std::int32_t* columns;

  MASE_SIMD void operator()(std::size_t, std::size_t at, std::size_t end) const {
    std::fill(columns + at, columns + end, largest_of(columns + at, end - at));
  }
};

/// Turns the peaks of a chunk's columns, which zeros follow, into those of the columns' tiles.
MASE_SIMD void spread_peaks(const Chunk& chunk, std::size_t tile, std::int32_t* columns) {
  if (tile == 1) return;
  if (Simd::width % tile != 0) return for_each_part(chunk, tile, SpreadPeak{columns});
  for (std::size_t c = 0; c < chunk.size(); c += Simd::width)
    Simd::store_bits(columns + c, largest_in_tiles(Simd::load_bits(columns + c), tile));
}

/// Stores the factors of `count` columns; returns false when `factors` do not cover a peak.
template <class Factors>
MASE_SIMD bool set_factors(const Factors& factors, const std::int32_t* columns, std::size_t count,
                           ColumnFactors<2>& to) {
  Bits uncovered = Simd::all_bits(-1);
  for (std::size_t c = 0; c < count; c += Simd::width) {
    const Bits peaks = Simd::load_bits(columns + c);
    uncovered = Simd::max_bits(uncovered, factors.uncovered(peaks));
    const Lanes<2> lanes = factors.of(peaks);
    for (std::size_t k = 0; k < 2; ++k) Simd::store(to.own[k] + c, lanes.factor[k]);
  }
  return Simd::all_negative(uncovered);
}

/// Writes one row of a chunk; `next` is the row that is read after it. Stores that bypass the
/// caches begin where the output is aligned. (Set is Simd; it is a parameter so that sets without
/// such stores compile.)
template <bool stream, class Set, class Op>
MASE_SIMD void write_column_row(const Op& op, const ColumnFactors<2>& factors, std::size_t count,
                                const float* in, float* out, const float* next,
                                Offsets<Op>& offsets) {
  std::size_t c = stream ? std::min(count, elements_to_aligned(out)) : 0;
  if (c > 0) write_part(op, factors.from(0), in, out, offsets.next(c), c);
#pragma GCC unroll 2
  for (; c + Simd::width <= count; c += Simd::width) {
    __builtin_prefetch(next + c);
    const Simd::Vec made = applied(op, Simd::load(in + c), factors.from(c), offsets.next());
    if constexpr (stream)
      Set::stream(out + c, made);
    else
      Simd::store(out + c, made);
  }
  if (c < count) write_part(op, factors.from(c), in + c, out + c, offsets.next(), count - c);
}

/// Writes the rows of a chunk and prefetches the next strip. When the rows outgrow the caches it
/// begins with the last rows instead, which the search for peaks has just read.
template <bool stream, class Op>
MASE_SIMD void write_column_rows(const Op& op, const ColumnFactors<2>& factors, const Chunk& chunk,
                                 const Strip& strip) {
  Offsets<Op> offsets(strip.seed);
  for (std::size_t r = strip.row_count; r-- > 0;) {
    const float* const in = strip.in + strip.rows[r] + chunk.begin;
    const float* const next = strip.ahead > 0 ? in + strip.ahead
                              : r > 0         ? strip.in + strip.rows[r - 1] + chunk.begin
                                              : in;
    float* const out = strip.out + strip.rows[r] + chunk.begin;
    offsets.start(strip.index + strip.rows[r] + chunk.begin);
    write_column_row<stream, Simd>(op, factors, chunk.size(), in, out, next, offsets);
  }
}

/// out = op(in, factors of the element's tile), up to the first panel with a peak that `factors` do
/// not cover; returns the number of columns done, in whole tiles.
template <class Op, class Factors>
MASE_SIMD std::size_t apply_columns(const Op& given_op, const Factors& given_factors,
                                    const Strip& strip) {
  if (strip.tile > chunk_columns) return 0;
  const Op op = given_op;
  const Factors factors = given_factors;
  alignas(64) std::int32_t peaks[chunk_columns + Simd::width];
  ColumnFactors<2> columns;
  columns.use_own();
  for (Chunk chunk; chunk.end < strip.columns;) {
    chunk = chunk_from(strip, chunk.end);
    column_peaks<false>(strip, chunk, peaks);
    spread_peaks(chunk, strip.tile, peaks);
    if (!set_factors(factors, peaks, chunk.size(), columns)) return chunk.begin;
    if (streams<Op> && strip.streaming)
      write_column_rows<streams<Op>>(op, columns, chunk, strip);
    else
      write_column_rows<false>(op, columns, chunk, strip);
  }
  return strip.columns;
}

}  // namespace
}  // namespace mase::formats::kernels
