// SPDX-License-Identifier: Apache-2.0
// The data of block formats' kernels: a strip of whole tiles, and the peaks and factors of tiles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "formats/seed.hpp"
#include "simd/kernels.hpp"

namespace mase::formats::kernels {

/// Rows of equal length, at `in + rows[r]` and `out + rows[r]`, whose columns are cut into tiles:
/// tile t has the columns [t * tile, (t + 1) * tile) of all rows; the last tile may be short. `in`
/// and `out` are the same or do not overlap.
struct Strip {
  const float* in = nullptr;
  float* out = nullptr;
  const std::size_t* rows = nullptr;
  std::size_t row_count = 0;
  std::size_t columns = 0;
  std::size_t tile = 1;
  bool streaming = false;  ///< stores bypass the caches
  std::size_t index = 0;   ///< index in the tensor of the element at `in`
  Seed seed{};             ///< seed of stochastic rounding
  std::size_t ahead = 0;   ///< distance to the next strip when it is worth a prefetch

  std::size_t tiles() const { return (columns + tile - 1) / tile; }
};

/// Rows that follow one another in memory; each is cut into tiles, of which the last may be short.
/// `in` and `out` are the same or do not overlap.
struct Runs {
  const float* in = nullptr;
  float* out = nullptr;
  std::size_t count = 0;  ///< number of elements, which end with a tile
  std::size_t row = 1, tile = 1;
  std::size_t column = 0;  ///< column of the first element, where a tile begins
  bool streaming = false;  ///< stores bypass the caches
  std::size_t index = 0;   ///< index in the tensor of the element at `in`
  Seed seed{};             ///< seed of stochastic rounding
  /// If given, receives the bits of the largest |x| of every tile that is done. Up to
  /// `runs_padding` further numbers may be overwritten.
  std::int32_t* peaks = nullptr;
};

/// The number of tiles in `count` elements of rows of `row` elements; they end with a whole tile.
inline std::size_t tiles_before(std::size_t count, std::size_t row, std::size_t tile) {
  return count / row * ((row + tile - 1) / tile) + (count % row + tile - 1) / tile;
}

/// The lanes of the widest instruction set.
constexpr std::size_t runs_padding = 16;

/// The most vectors of a tile of runs.
constexpr std::size_t longest_run = 8;

/// The rule by which the bits u of a tile's peak, when they are 0 or within least .. most, give two
/// factors that are powers of two. With f = (u + carry) >> 23 clamped to low .. high, the exponent
/// fields of the factors are down_offset - f and up_offset + f.
struct PowerRule {
  std::int32_t least = 1, most = 0;  ///< least > most: only 0 is covered
  std::int32_t carry = 0;
  std::int32_t low = 0, high = 0;
  std::int32_t down_offset = 0, up_offset = 0;
};

/// A few float32 numbers per tile of a strip, in one array per number, so that lanes of a vector
/// can be different tiles. Arrays are padded, so that a vector can be read at every tile.
class TileFactors {
 public:
  TileFactors(std::size_t factors, std::size_t tiles)
      : stride_(tiles + padding), values_(factors * stride_) {}

  float* of(std::size_t factor) { return values_.data() + factor * stride_; }
  const float* of(std::size_t factor) const { return values_.data() + factor * stride_; }

 private:
  static constexpr std::size_t padding = 16;  ///< lanes of the widest instruction set
  std::size_t stride_;
  std::vector<float> values_;
};

/// Writes the largest |x| of every tile, as its bits.
using PeakKernel = void (*)(const Strip& strip, std::int32_t* peaks);
struct PeakKernels {
  PeakKernel all;     ///< 0x7f800000 or more means that the tile has NaN or an infinity
  PeakKernel finite;  ///< ignores NaN and infinities; 0 when a tile has nothing else
};
MASE_KERNELS(PeakKernels, peak_kernels, avx512);

}  // namespace mase::formats::kernels
