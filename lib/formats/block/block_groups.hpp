// SPDX-License-Identifier: Apache-2.0
// Groups of tiles that follow each other in memory and together fill whole vectors. A group gives
// peaks as lanes of vectors, and writes elements with the factors of their tiles.
//
// A group is a class with size() in elements, tiles_of(count) for a part of it, and
//   bool write(Writer& writer, const Op& op, Offsets<Op>& offsets, const Factors& factors,
//              const float* in, std::size_t count, std::int32_t* peaks) const
// which reads size() elements and writes at least the first `count` in whole vectors, or nothing
// when `factors` do not cover a peak. If `peaks` is given, it receives the bits of the peaks, in
// whole vectors.
#pragma once

#include "formats/block/block_loop.hpp"
#include "formats/block/block_magnitudes.hpp"

namespace mase::formats::kernels {
namespace {

using simd::Simd;

template <class Factors>
MASE_SIMD bool cover(const Factors& factors, Bits peaks) {
  return Simd::all_negative(factors.uncovered(peaks));
}

/// As many tiles as a vector has lanes; each tile is `vectors` whole vectors, or any number of them
/// for 0.
template <std::size_t vectors>
class WholeTiles {
 public:
  MASE_SIMD explicit WholeTiles(std::size_t tile) : tile_(tile) {}

  MASE_SIMD std::size_t size() const { return tile() * Simd::width; }
  MASE_SIMD std::size_t tiles_of(std::size_t count) const { return (count + tile() - 1) / tile(); }

  template <class Writer, class Op, class Factors>
  MASE_SIMD bool write(Writer& writer, const Op& op, Offsets<Op>& offsets, const Factors& factors,
                       const float* in, std::size_t count, std::int32_t* peaks) const {
    const Bits found = peaks_of_lanes<false, vectors>(in, tile_);
    if (!cover(factors, found)) return false;
    if (peaks) Simd::store_bits(peaks, found);
    alignas(64) float down[Simd::width], up[Simd::width];
    const Lanes<2> of_tiles = factors.of(found);
    Simd::store(down, of_tiles.factor[0]);
    Simd::store(up, of_tiles.factor[1]);
    const float* const end = in + count;
    for (std::size_t t = 0; in < end; ++t) {
      const Lanes<2> lanes{{Simd::all(down[t]), Simd::all(up[t])}};
      for (std::size_t i = 0; i < tile(); i += Simd::width, in += Simd::width) {
        __builtin_prefetch(in + fetch_ahead);
        writer.write(applied(op, Simd::load(in), lanes, offsets.next()));
      }
    }
    return true;
  }

 private:
  MASE_SIMD std::size_t tile() const { return vectors == 0 ? tile_ : vectors * Simd::width; }

  std::size_t tile_;
};

MASE_SIMD Lanes<2> picked(const Lanes<2>& of_tiles, Bits lanes) {
  return {{Simd::picked(of_tiles.factor[0], lanes), Simd::picked(of_tiles.factor[1], lanes)}};
}

/// As many tiles of equal length as a vector has lanes.
class EqualTiles {
 public:
  /// At most `count` elements of a group are needed.
  MASE_SIMD EqualTiles(std::size_t tile, std::size_t count) : tile_(tile) {
    const std::size_t end = std::min(size(), count + Simd::width);
    std::int32_t t = 0;
    for (std::size_t begin = 0; begin < end; begin += tile, ++t)
      for (std::size_t i = begin; i < begin + tile; ++i) lane_[i] = t;
  }

  MASE_SIMD std::size_t size() const { return tile_ * Simd::width; }
  MASE_SIMD std::size_t tiles_of(std::size_t count) const { return (count + tile_ - 1) / tile_; }

  template <class Writer, class Op, class Factors>
  MASE_SIMD bool write(Writer& writer, const Op& op, Offsets<Op>& offsets, const Factors& factors,
                       const float* in, std::size_t count, std::int32_t* peaks) const {
    const Bits found = peaks_of_lanes<false>(in, tile_);
    if (!cover(factors, found)) return false;
    if (peaks) Simd::store_bits(peaks, found);
    const Lanes<2> of_tiles = factors.of(found);
    for (std::size_t i = 0; i < count; i += Simd::width) {
      __builtin_prefetch(in + i + fetch_ahead);
      writer.write(applied(op, Simd::load(in + i), picked(of_tiles, Simd::load_bits(lane_ + i)),
                           offsets.next()));
    }
    return true;
  }

 private:
  std::size_t tile_;
  alignas(64) std::int32_t lane_[largest_group];
};

/// As many rows as a vector has lanes. Each is cut into tiles, the last of which is short. Tiles
/// are at the same places in all groups.
class RowTiles {
 public:
  /// At most `count` elements of a group are needed.
  MASE_SIMD RowTiles(std::size_t row, std::size_t tile, std::size_t count)
      : row_(row), tile_(tile), tiles_per_row_((row + tile - 1) / tile) {
    for (std::size_t i = 0; i < 3 * Simd::width; ++i)
      mask_[i] = i / Simd::width == 1 ? 0x7fffffff : 0;
    std::size_t t = 0;
    for (std::size_t r = 0; r < Simd::width; ++r)
      for (std::size_t begin = 0; begin < row; begin += tile, ++t) {
        const std::size_t end = std::min(row, begin + tile);
        place(t, r * row + begin, r * row + end);
        if (r * row < count + Simd::width) spread(t, r * row + begin, r * row + end);
      }
  }

  MASE_SIMD std::size_t size() const { return row_ * Simd::width; }
  MASE_SIMD std::size_t tiles_of(std::size_t count) const {
    return tiles_before(count, row_, tile_);
  }

  template <class Writer, class Op, class Factors>
  MASE_SIMD bool write(Writer& writer, const Op& op, Offsets<Op>& offsets, const Factors& factors,
                       const float* in, std::size_t count, std::int32_t* peaks) const {
    alignas(64) float down[most_tiles + Simd::width], up[most_tiles + Simd::width];
    const std::size_t tiles = count == size() ? tiles_per_row_ * Simd::width : tiles_of(count);
    for (std::size_t t = 0; t < tiles; t += Simd::width) {
      const Bits found = peaks_from(in, t);
      if (!cover(factors, found)) return false;
      if (peaks) Simd::store_bits(peaks + t, found);
      const Lanes<2> of_tiles = factors.of(found);
      Simd::store(down + t, of_tiles.factor[0]);
      Simd::store(up + t, of_tiles.factor[1]);
    }
    for (std::size_t i = 0; i < count; i += Simd::width) {
      const std::size_t first = first_[i / Simd::width];
      const Bits lanes = Simd::load_bits(lane_ + i);
      writer.write(applied(op, Simd::load(in + i),
                           picked({{Simd::load(down + first), Simd::load(up + first)}}, lanes),
                           offsets.next()));
    }
    return true;
  }

 private:
  static constexpr std::size_t most_tiles = largest_group / 2;  ///< tiles of 1 are never short

  /// How a tile is read: by vectors from `from` to `end`, the first one under mask_[mask ..].
  struct Place {
    std::uint32_t from, end, mask;
  };

  /// A short tile is read by a vector that begins with it or, near the group's end, ends with it: a
  /// group has at least two vectors, and nothing reads beyond it.
  MASE_SIMD void place(std::size_t t, std::size_t begin, std::size_t end) {
    const std::size_t part = std::min(Simd::width, end - begin);
    const bool begins = begin + Simd::width <= size();
    const std::size_t from = begins ? begin : end - Simd::width;
    const std::size_t mask = begins ? 2 * Simd::width - part : part;
    place_[t] = {static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(end),
                 static_cast<std::uint32_t>(mask)};
  }

  /// The lanes of a vector count tiles from the tile of its first lane on.
  MASE_SIMD void spread(std::size_t t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      std::uint32_t& first = first_[i / Simd::width];
      if (i % Simd::width == 0) first = static_cast<std::uint32_t>(t);
      lane_[i] = static_cast<std::int32_t>(t) - static_cast<std::int32_t>(first);
    }
  }

  /// The peaks of as many tiles as a vector has lanes. (One function for all operations.)
  [[gnu::noinline]] MASE_SIMD_TARGET Bits peaks_from(const float* in, std::size_t first) const {
    Bits peaks[Simd::width];
    for (std::size_t t = 0; t < Simd::width; ++t) {
      const Place& tile = place_[first + t];
      __builtin_prefetch(in + tile.from + fetch_ahead);
      peaks[t] = magnitude<false>(Simd::load(in + tile.from), Simd::load_bits(mask_ + tile.mask));
      for (std::size_t i = tile.from + Simd::width; i < tile.end; i += Simd::width) {
        __builtin_prefetch(in + i + fetch_ahead);
        const float* const at = in + std::min<std::size_t>(i, tile.end - Simd::width);
        peaks[t] = Simd::max_bits(peaks[t], magnitude<false>(Simd::load(at)));
      }
    }
    return Simd::largest_of_each(peaks);
  }

  std::size_t row_, tile_, tiles_per_row_;
  std::int32_t mask_[3 * Simd::width];
  Place place_[most_tiles];
  std::uint32_t first_[largest_group / Simd::width];
  alignas(64) std::int32_t lane_[largest_group];
};

}  // namespace
}  // namespace mase::formats::kernels
