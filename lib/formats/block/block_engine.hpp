// SPDX-License-Identifier: Apache-2.0
// The engine of all block formats: finds the largest magnitude of every tile, lets the format turn
// it into a few factors, and applies the format's element kernel with them. A block format adds a
// function "peaks to factors" and an element kernel (block_loop.hpp).
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

/// What a format needs to know of a tile.
struct TilePeak {
  float largest = 0;       ///< the largest |x| over the finite elements; 0 when there are none
  bool nonfinite = false;  ///< the tile holds NaN or an infinity

  bool operator==(const TilePeak&) const = default;
};

/// A block format's part in the engine.
struct BlockKernel {
  std::size_t factor_count = 0;
  /// Fills factor k of tile t into factors.of(k)[t], for all tiles of `peaks`.
  std::function<void(std::span<const TilePeak> peaks, kernels::TileFactors& factors)> factors;
  /// Writes a value, or a code's bits, for every element of a strip.
  std::function<void(const kernels::Strip& strip, const kernels::TileFactors& factors)> elements;
  /// All of this at once for runs, from the first element on as far as it goes; returns the number
  /// of elements that are done, whole tiles. The codes' words and the values are the same.
  std::function<std::size_t(const kernels::Runs& runs)> runs;
  /// The same for strips of several rows, from the first column on; returns the number of columns
  /// that are done, whole tiles.
  std::function<std::size_t(const kernels::Strip& strip)> columns;
  std::uint64_t seed = 0;  ///< of stochastic rounding
};

/// The peak of every tile, in the tiles' order.
std::vector<TilePeak> tile_peaks(const Tiling& tiling, std::span<const float> in,
                                 simd::Isa isa = simd::best_isa());

/// Fake quantization; `in` and `out` have numel(tiling.shape) elements and may be the same memory.
/// Reads a strip of tiles twice while it is in the cache; writes past the caches from
/// `streaming_from` elements on.
void quantize_blocks(const Tiling& tiling, std::span<const float> in, std::span<float> out,
                     const BlockKernel& kernel, simd::Isa isa = simd::best_isa(),
                     std::size_t streaming_from = simd::streaming_count);

/// The largest |x| of every tile as it is: infinite, or NaN where there is one.
std::vector<float> tile_magnitudes(const Tiling& tiling, std::span<const float> in,
                                   simd::Isa isa = simd::best_isa());

/// What writes elements by factors that need more than a tile's own elements.
struct KnownBlocks {
  std::size_t factor_count = 0;
  /// Fills the factors of tiles `first` and up, `count` of them, from the front.
  std::function<void(std::size_t first, std::size_t count, kernels::TileFactors& factors)> factors;
  std::function<void(const kernels::Strip& strip, const kernels::TileFactors& factors)> elements;
};

/// Fake quantization, as quantize_blocks; no peaks are looked for.
void quantize_blocks(const Tiling& tiling, std::span<const float> in, std::span<float> out,
                     const KnownBlocks& blocks, std::size_t streaming_from = simd::streaming_count);

/// Gets the peaks of all tiles, as of tile_peaks, some at a time, in the tiles' order.
using SeePeaks = std::function<void(std::span<const TilePeak> peaks)>;

/// The codes, `bits` wide, that `kernel.elements` writes; `see` gets the peaks found for them.
PackedCodes encode_blocks(const Tiling& tiling, std::span<const float> in,
                          const BlockKernel& kernel, int bits, const SeePeaks& see,
                          simd::Isa isa = simd::best_isa());

/// Calls visit(first, count, tile) for every run of elements of one tile, in order: the definition
/// of a tiling.
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

/// tile_peaks and tile_magnitudes by the definition: slow, and obviously right.
std::vector<TilePeak> tile_peaks_scalar(const Tiling& tiling, std::span<const float> in);
std::vector<float> tile_magnitudes_scalar(const Tiling& tiling, std::span<const float> in);

bool any_nonfinite(std::span<const TilePeak> peaks);

/// The index of the first NaN, else in.size().
std::size_t first_nan(std::span<const float> in);
/// The same for a tensor of which `peaks` are the tiles' peaks.
std::size_t first_nan(std::span<const float> in, std::span<const TilePeak> peaks);

}  // namespace mase::formats
