// SPDX-License-Identifier: Apache-2.0
// Tiles of any shape: the engine's strips and kernels give what a loop over indices gives.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "base/random.hpp"
#include "formats/bands.hpp"
#include "formats/block/block_engine.hpp"
#include "formats/block/block_support.hpp"

using namespace mase;
using namespace mase::formats;

namespace {

// The number of the tile of every element, from the definition: indices divided by the tile.
std::vector<std::size_t> tile_of_elements(const Tiling& tiling) {
  std::vector<std::size_t> tiles;
  const Shape counts = tiling.counts();
  for (std::int64_t i = 0; i < numel(tiling.shape); ++i) {
    std::int64_t rest = i, tile = 0, weight = 1;
    for (std::size_t d = tiling.shape.size(); d-- > 0; rest /= tiling.shape[d]) {
      tile += rest % tiling.shape[d] / tiling.tile[d] * weight;
      weight *= counts[d];
    }
    tiles.push_back(static_cast<std::size_t>(tile));
  }
  return tiles;
}

std::vector<TilePeak> peaks_by_hand(const Tiling& tiling, const std::vector<float>& in) {
  std::vector<TilePeak> peaks(static_cast<std::size_t>(tiling.tiles()));
  const auto tiles = tile_of_elements(tiling);
  for (std::size_t i = 0; i < in.size(); ++i) {
    TilePeak& peak = peaks[tiles[i]];
    if (!std::isfinite(in[i])) peak.nonfinite = true;
    if (std::isfinite(in[i]) && std::abs(in[i]) > peak.largest) peak.largest = std::abs(in[i]);
  }
  return peaks;
}

}  // namespace

TEST_CASE("a tiling keeps its tiles when dimensions are merged") {
  Random random(31);
  for (int trial = 0; trial < 400; ++trial) {
    const Tiling tiling = random_tiling(random);
    const Tiling simple = simplified(tiling);
    INFO(shape_text(tiling.shape) << " " << shape_text(tiling.tile));
    CHECK(tile_of_elements(simple) == tile_of_elements(tiling));
  }
  CHECK(simplified({{8, 48}, {1, 16}}).shape == Shape{384});
  CHECK(simplified({{32, 3, 3}, {1, 3, 3}}).tile == Shape{9});
  CHECK(simplified({{6, 32, 3, 3}, {1, 32, 1, 1}}).shape == Shape{6 * 32, 9});
}

TEST_CASE("the largest magnitudes of tiles are those of a loop over indices") {
  Random random(32);
  for (int trial = 0; trial < 400; ++trial) {
    const Tiling tiling = random_tiling(random);
    const std::vector<float> in = random_values(random, tiling, trial % 3 == 0);
    INFO(shape_text(tiling.shape) << " " << shape_text(tiling.tile));
    const auto expected = peaks_by_hand(tiling, in);
    CHECK(tile_peaks_scalar(tiling, in) == expected);
    for (const simd::Isa isa : simd::available_isas())
      CHECK(tile_peaks(tiling, in, isa) == expected);
  }
}

TEST_CASE("the largest magnitudes of tiles of every length are those of a loop over indices") {
  Random random(34);
  for (int tile = 1; tile <= most_run_length; ++tile)
    for (int trial = 0; trial < 4; ++trial) {
      const Tiling tiling = length_tiling(random, tile);
      const std::vector<float> in = random_values(random, tiling, trial % 2 == 0);
      const auto expected = peaks_by_hand(tiling, in);
      for (const simd::Isa isa : simd::available_isas())
        if (tile_peaks(tiling, in, isa) != expected)
          FAIL(shape_text(tiling.shape) << " in " << tile << " on " << simd::isa_name(isa));
    }
  SUCCEED();
}

TEST_CASE("large tensors are cut into strips that lose no tile") {
  Random random(33);
  for (const auto& [shape, tile] : {std::pair<Shape, Shape>{{100001}, {16}},
                                    {{100001}, {9}},
                                    {{70000}, {70000}},
                                    {{70001}, {5001}},
                                    {{300, 301}, {300, 16}},
                                    {{40, 2500}, {7, 1100}},
                                    {{3, 32, 999}, {1, 32, 1}}}) {
    const Tiling tiling{shape, tile};
    const std::vector<float> in = random_values(random, tiling, true);
    for (const simd::Isa isa : simd::available_isas())
      CHECK(tile_peaks(tiling, in, isa) == tile_peaks_scalar(tiling, in));
  }
}
