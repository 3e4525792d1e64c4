// SPDX-License-Identifier: Apache-2.0
// What the threads of a kernel do for tiles along the last dimension: as many neighbouring threads
// as a tile needs find its peak together, then each applies the operation to its elements.
#pragma once

#include <limits>

#include "formats/block/block_lanes.hpp"
#include "formats/device/element_body.hpp"
#include "formats/device/tile_table.hpp"
#include "simd/specials.hpp"

namespace mase::formats::kernels {
namespace {

/// The factors that an operation takes for any peak: two, or four where one float32 cannot hold
/// each power.
template <std::size_t count>
MASE_SIMD Lanes<count> any_factors(const TileRule& rule, int exponent) {
  Lanes<count> lanes;
  if constexpr (count == scaled_factors) {
    set_power(&lanes.factor[0], &lanes.factor[1], rule.down - exponent);
    set_power(&lanes.factor[2], &lanes.factor[3], exponent + rule.up);
  } else {
    lanes.factor[0] = double_power(rule.down - exponent);
    lanes.factor[1] = double_power(exponent + rule.up);
  }
  return lanes;
}

template <class Op>
struct TileBody {
  Op op;
  DeviceTiles tiles;
  Seed seed;
  const float* in;
  float* out;
  std::size_t count;
  bool aligned;

  /// The work of a group of threads for one tile. Group has `size()` lanes, `largest(of_lane)`,
  /// which gives all of them the largest number, and `for_each(of_lane)`.
  template <class Group>
  MASE_SIMD void operator()(const Group& group, std::size_t number) const {
    const Span tile = span_of(number);
    const auto all = [&](std::size_t lane) { return peak<false>(tile, lane, group.size()); };
    const Bits largest = group.largest(all);
    const PowerFactors powers = PowerFactors::of(tiles.rule.power);
    if (powers.uncovered(largest) < 0) {
      const Lanes<2> lanes = powers.of(largest);
      group.for_each([&](std::size_t lane) { write(tile, lane, group.size(), lanes); });
      return;
    }
    const auto finite = [&](std::size_t lane) { return peak<true>(tile, lane, group.size()); };
    const Lanes<Op::factors> lanes =
        factors_of(Simd::floats(group.largest(finite)), largest >= infinity);
    group.for_each([&](std::size_t lane) { write(tile, lane, group.size(), lanes); });
  }

  std::size_t tile_count() const {
    return count == 0 ? 0 : count / tiles.row * ((tiles.row + tiles.tile - 1) / tiles.tile);
  }

 private:
  using Bits = Simd::Bits;
  static constexpr Bits infinity = 0x7f800000;
  struct Span {
    std::size_t begin, end;
  };

  MASE_SIMD Span span_of(std::size_t number) const {
    if (tiles.row % tiles.tile == 0) return {number * tiles.tile, number * tiles.tile + tiles.tile};
    const std::size_t per_row = tiles.row / tiles.tile + 1, row = number / per_row;
    const std::size_t begin = (number - row * per_row) * tiles.tile, end = begin + tiles.tile;
    return {row * tiles.row + begin, row * tiles.row + (end < tiles.row ? end : tiles.row)};
  }

  MASE_SIMD Lanes<Op::factors> factors_of(float finite_peak, bool nonfinite) const {
    const TileRule& rule = tiles.rule;
    const int exponent = finite_peak == 0 ? rule.zero : rule.exponent.of(finite_peak);
    Lanes<Op::factors> lanes = any_factors<Op::factors>(rule, exponent);
    if (nonfinite && rule.has_nan) lanes.factor[1] = Simd::floats(0x7fc00000);
    return lanes;
  }

  /// The largest magnitude of a lane's elements; with `finite`, of those that are finite.
  template <bool finite>
  MASE_SIMD Bits peak(const Span& tile, std::size_t lane, std::size_t lanes) const {
    Bits largest = 0;
    for (std::size_t i = tile.begin + lane * Four::count; i < tile.end; i += lanes * Four::count) {
      const Four x = load(i, tile.end);
      for (const float value : x.of) {
        const Bits magnitude = simd::magnitude_bits(value);
        if (!finite || magnitude < infinity) largest = Simd::max_bits(largest, magnitude);
      }
    }
    return largest;
  }

  template <class Tile>
  MASE_SIMD void write(const Span& tile, std::size_t lane, std::size_t lanes,
                       const Tile& factors) const {
    for (std::size_t i = tile.begin + lane * Four::count; i < tile.end; i += lanes * Four::count)
      store(i, tile.end, applied(load(i, tile.end), i, factors));
  }
  template <class Tile>
  MASE_SIMD Four applied(Four x, std::size_t first, const Tile& factors) const {
    if constexpr (Op::draws) {
      const Four u = offsets_from(seed, first);
      for (std::size_t i = 0; i < Four::count; ++i) x.of[i] = op(x.of[i], factors, u.of[i]);
    } else {
      for (float& value : x.of) value = op(value, factors);
    }
    return x;
  }

  MASE_SIMD Four load(std::size_t first, std::size_t end) const {
    if (aligned) return *reinterpret_cast<const Four*>(in + first);
    Four x{};
    for (std::size_t i = 0; i < Four::count; ++i)
      if (first + i < end) x.of[i] = in[first + i];
    return x;
  }
  MASE_SIMD void store(std::size_t first, std::size_t end, const Four& x) const {
    if (aligned) {
      *reinterpret_cast<Four*>(out + first) = x;
      return;
    }
    for (std::size_t i = 0; i < Four::count; ++i)
      if (first + i < end) out[first + i] = x.of[i];
  }
};

/// Applies an operation to all tiles.
template <class Op>
const char* apply_to_tiles(const Op& op, const DeviceTiles& tiles, Seed seed,
                           const DeviceSpan& span) {
  const bool aligned =
      is_aligned(span) && tiles.row % Four::count == 0 && tiles.tile % Four::count == 0;
  const TileBody<Op> body{op, tiles, seed, span.in, span.out, span.count, aligned};
  constexpr std::size_t most_lanes = 32;
  std::size_t lanes = 1;
  while (lanes < most_lanes && lanes * Four::count < tiles.tile) lanes *= 2;
  return launch_groups(body, body.tile_count(), lanes, span);
}

}  // namespace
}  // namespace mase::formats::kernels
