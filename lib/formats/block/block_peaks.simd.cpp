// SPDX-License-Identifier: Apache-2.0
// The largest magnitude of every tile.
#include <cstring>

#include "formats/block/block_column_peaks.hpp"

namespace mase::formats::kernels {
namespace {

using namespace simd;

/// The largest magnitude of a tile: at least one element, at .. end of a row.
template <bool finite_only>
struct RowPeak {
  const float* row;
  std::int32_t* peaks;

  MASE_SIMD void operator()(std::size_t t, std::size_t at, std::size_t end) const {
    if (end - at < Simd::width) {
      peaks[t] = Simd::largest(magnitude<finite_only>(load_part(row + at, end - at)));
      return;
    }
    Bits peak = magnitude<finite_only>(Simd::load(row + end - Simd::width));
    for (; at + Simd::width < end; at += Simd::width)
      peak = Simd::max_bits(peak, magnitude<finite_only>(Simd::load(row + at)));
    peaks[t] = Simd::largest(peak);
  }
};

/// The peaks of the tiles of one row.
template <bool finite_only>
MASE_SIMD void row_peaks(const float* row, std::size_t columns, std::size_t tile,
                         std::int32_t* peaks) {
  Chunk chunk{0, columns};
  const std::size_t group = Simd::width * tile;
  for (std::size_t t = 0; group <= largest_group && chunk.size() >= group; t += Simd::width) {
    Simd::store_bits(peaks + t, peaks_of_lanes<finite_only>(row + chunk.begin, tile));
    chunk.begin += group;
  }
  for_each_part(chunk, tile, RowPeak<finite_only>{row + chunk.begin, peaks});
}

/// The same from the peaks of columns.
struct ColumnsPeak {
  const std::int32_t* columns;
  std::int32_t* peaks;

  MASE_SIMD void operator()(std::size_t t, std::size_t at, std::size_t end) const {
    peaks[t] = std::max(peaks[t], largest_of(columns + at, end - at));
  }
};

template <bool finite_only>
MASE_SIMD_TARGET void find_peaks(const Strip& strip, std::int32_t* peaks) {
  alignas(64) std::int32_t columns[chunk_columns + Simd::width];
  if (strip.row_count == 1)
    return row_peaks<finite_only>(strip.in + strip.rows[0], strip.columns, strip.tile, peaks);
  std::fill_n(peaks, strip.tiles(), 0);
  for (Chunk chunk; chunk.end < strip.columns;) {
    chunk = chunk_from(strip, chunk.end);
    column_peaks<finite_only>(strip, chunk, columns);
    if (strip.tile == 1)
      std::memcpy(peaks + chunk.begin, columns, chunk.size() * sizeof(std::int32_t));
    else
      for_each_part(chunk, strip.tile, ColumnsPeak{columns, peaks});
  }
}

}  // namespace

const PeakKernels MASE_KERNELS_OF(peak_kernels){find_peaks<false>, find_peaks<true>};

}  // namespace mase::formats::kernels
