// SPDX-License-Identifier: Apache-2.0
// The engine of all block formats: finds the largest magnitude of every tile, lets the format turn
// it into a few factors, and applies the format's element kernel with them. A block format provides
// a function from peaks to factors, and an element kernel (block_loop.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "formats/block/block_strip.hpp"
#include "formats/codes.hpp"
#include "formats/tiling.hpp"

namespace mase::formats {

/// What a format needs to know about a tile.
struct TilePeak {
  float largest = 0;       ///< the largest |x| of the finite elements; 0 without any
  bool nonfinite = false;  ///< the tile holds NaN or an infinity

  bool operator==(const TilePeak&) const = default;
};

/// The functions that a block format gives the engine.
struct BlockKernel {
  std::size_t factor_count = 0;
  /// Fills factor k of tile t into factors.of(k)[t], for all tiles of `peaks`.
  std::function<void(std::span<const TilePeak> peaks, kernels::TileFactors& factors)> factors;
  /// Writes a value, or a code's bits, for every element of a strip.
  std::function<void(const kernels::Strip& strip, const kernels::TileFactors& factors)> elements;
  /// All steps at once for runs, from the first element as far as it can; returns the number of
  /// elements done, in whole tiles. Values and words of codes are the same.
  std::function<std::size_t(const kernels::Runs& runs)> runs;
  /// The same for strips of several rows, from the first column on; returns the number of columns
  /// done, in whole tiles.
  std::function<std::size_t(const kernels::Strip& strip)> columns;
  Seed seed{};  ///< seed of stochastic rounding
};

/// The peak of every tile, in the tiles' order.
std::vector<TilePeak> tile_peaks(const Tiling& tiling, std::span<const float> in,
                                 simd::Isa isa = simd::best_isa());

/// Fake quantization; `in` and `out` have numel(tiling.shape) elements and may be the same memory.
/// Reads a strip of tiles twice while it is in the cache. From `streaming_from` elements on, its
/// stores bypass the caches.
void quantize_blocks(const Tiling& tiling, std::span<const float> in, std::span<float> out,
                     const BlockKernel& kernel, simd::Isa isa = simd::best_isa(),
                     std::size_t streaming_from = simd::streaming_count);

/// The largest |x| of every tile, which may be infinite, or NaN for a tile with a NaN.
std::vector<float> tile_magnitudes(const Tiling& tiling, std::span<const float> in,
                                   simd::Isa isa = simd::best_isa());

/// The functions of a format whose factors need more than the elements of a tile.
struct KnownBlocks {
  std::size_t factor_count = 0;
  /// Fills the factors of `count` tiles from tile `first` on into the front of `factors`.
  std::function<void(std::size_t first, std::size_t count, kernels::TileFactors& factors)> factors;
  std::function<void(const kernels::Strip& strip, const kernels::TileFactors& factors)> elements;
};

/// Fake quantization like the function above, without a search for peaks.
void quantize_blocks(const Tiling& tiling, std::span<const float> in, std::span<float> out,
                     const KnownBlocks& blocks, std::size_t streaming_from = simd::streaming_count);

/// Receives the peaks of all tiles (see tile_peaks) in the tiles' order, some at a time.
using SeePeaks = std::function<void(std::span<const TilePeak> peaks)>;

/// The codes that `kernel.elements` writes, `bits` wide; `see` receives the peaks of their tiles.
PackedCodes encode_blocks(const Tiling& tiling, std::span<const float> in,
                          const BlockKernel& kernel, int bits, const SeePeaks& see,
                          simd::Isa isa = simd::best_isa());

/// Calls visit(first, count, tile) for every run of elements of one tile, in order; this defines a
/// tiling.
template <class Visit>
void for_each_run(const Tiling& tiling, Visit&& visit) {
  const auto length = static_cast<std::size_t>(tiling.shape.back());
  const auto tile = static_cast<std::size_t>(tiling.tile.back());
  std::size_t element = 0;
  for (const std::int64_t first : tiling.row_tiles()) {
    const std::size_t end = element + length;
    for (auto t = static_cast<std::size_t>(first); element < end; ++t) {
      const std::size_t count = std::min(tile, end - element);
      visit(element, count, t);
      element += count;
    }
  }
}

/// Calls visit(element, tile) for every element in order.
template <class Visit>
void for_each_element(const Tiling& tiling, Visit&& visit) {
  for_each_run(tiling, [&](std::size_t first, std::size_t count, std::size_t tile) {
    for (std::size_t i = first; i < first + count; ++i) visit(i, tile);
  });
}

/// tile_peaks and tile_magnitudes by their definition: slow, and obviously correct.
std::vector<TilePeak> tile_peaks_scalar(const Tiling& tiling, std::span<const float> in);
std::vector<float> tile_magnitudes_scalar(const Tiling& tiling, std::span<const float> in);

bool any_nonfinite(std::span<const TilePeak> peaks);

/// The index of the first NaN, or in.size() when there is none.
std::size_t first_nan(std::span<const float> in);
/// The same for a tensor whose tiles have these peaks.
std::size_t first_nan(std::span<const float> in, std::span<const TilePeak> peaks);

}  // namespace mase::formats
