// SPDX-License-Identifier: Apache-2.0
// What the kernels of block formats work on: a strip of whole tiles, the tiles' peaks and factors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simd/kernels.hpp"

namespace mase::formats::kernels {

/// Rows of equal length, at `in + rows[r]` and `out + rows[r]`, whose columns fall into tiles: tile
/// t is the columns [t * tile, (t + 1) * tile) of all rows; the last one may be short. `in` and
/// `out` are the same or do not overlap.
struct Strip {
  const float* in = nullptr;
  float* out = nullptr;
  const std::size_t* rows = nullptr;
  std::size_t row_count = 0;
  std::size_t columns = 0;
  std::size_t tile = 1;
  bool streaming = false;  ///< write past the caches
  std::size_t index = 0;   ///< of the element at `in`, in the tensor
  std::uint64_t seed = 0;  ///< of stochastic rounding
  std::size_t ahead = 0;   ///< from here to the next strip, if that is worth fetching

  std::size_t tiles() const { return (columns + tile - 1) / tile; }
};

/// Rows that follow one another in memory, cut into tiles of one row; the last tile of a row may be
/// short. `in` and `out` are the same or do not overlap.
struct Runs {
  const float* in = nullptr;
  float* out = nullptr;
  std::size_t count = 0;  ///< elements; they end with a tile
  std::size_t row = 1, tile = 1;
  std::size_t column = 0;  ///< where in its row the first element is: a tile's begin
  bool streaming = false;  ///< write past the caches
  std::size_t index = 0;   ///< of the element at `in`, in the tensor
  std::uint64_t seed = 0;  ///< of stochastic rounding
  /// If given, receives the bits of the largest |x| of every tile that is done, and may be written
  /// up to `runs_padding` further.
  std::int32_t* peaks = nullptr;
};

/// Tiles in the first `count` elements of rows of `row` elements, which end with a tile.
inline std::size_t tiles_before(std::size_t count, std::size_t row, std::size_t tile) {
  return count / row * ((row + tile - 1) / tile) + (count % row + tile - 1) / tile;
}

/// Lanes of the widest set.
constexpr std::size_t runs_padding = 16;

/// A tile of runs has at most so many vectors.
constexpr std::size_t longest_run = 8;

/// How two factors of a tile, powers of two, follow from the bits u of its peak where these are 0
/// or least .. most. With f = (u + carry) >> 23 cut to low .. high, the exponent fields of the
/// factors are down_offset - f and up_offset + f.
struct PowerRule {
  std::int32_t least = 1, most = 0;  ///< least above most: only 0 is covered
  std::int32_t carry = 0;
  std::int32_t low = 0, high = 0;
  std::int32_t down_offset = 0, up_offset = 0;
};

/// A few float32 numbers per tile of a strip, kept as one array per number, so that lanes of a
/// vector may be different tiles. Arrays are padded: a vector may be read from every tile on.
class TileFactors {
 public:
  TileFactors(std::size_t factors, std::size_t tiles)
      : stride_(tiles + padding), values_(factors * stride_) {}

  float* of(std::size_t factor) { return values_.data() + factor * stride_; }
  const float* of(std::size_t factor) const { return values_.data() + factor * stride_; }

 private:
  static constexpr std::size_t padding = 16;  ///< lanes of the widest set
  std::size_t stride_;
  std::vector<float> values_;
};

/// Writes the largest |x| of every tile, as its bits.
using PeakKernel = void (*)(const Strip& strip, std::int32_t* peaks);
struct PeakKernels {
  PeakKernel all;     ///< a result of 0x7f800000 or more says that the tile has NaN or an infinity
  PeakKernel finite;  ///< passes over them; 0 where a tile has nothing else
};
MASE_KERNELS(PeakKernels, peak_kernels, avx512);

}  // namespace mase::formats::kernels
