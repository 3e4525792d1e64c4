// SPDX-License-Identifier: Apache-2.0
// Helpers of the tests of block formats: random tilings and values with every kind of float32.
#pragma once

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "base/random.hpp"
#include "formats/block/block_engine.hpp"

namespace mase::formats {

inline int below(Random& random, int limit) {
  return static_cast<int>(random.below(static_cast<std::uint64_t>(limit)));
}

/// Rank 1 to 4, small dimensions, tiles of any size.
inline Tiling random_tiling(Random& random) {
  Tiling tiling;
  const int rank = 1 + below(random, 4);
  for (int d = 0; d < rank; ++d) {
    const int most = d + 1 == rank ? 70 : 7;
    tiling.shape.push_back(1 + below(random, most));
    const int length = static_cast<int>(tiling.shape.back());
    const int kind = below(random, 4);
    tiling.tile.push_back(kind == 0 ? 1 : kind == 1 ? length : 1 + below(random, length));
  }
  return tiling;
}

/// Any finite bits, zeros and few exponents per stretch; `nonfinite`: some NaN and infinities.
inline std::vector<float> random_values(Random& random, const Tiling& tiling, bool nonfinite) {
  std::vector<float> values(static_cast<std::size_t>(numel(tiling.shape)));
  const int lowest = below(random, 250) - 149, spread = 1 + below(random, 30);
  for (float& value : values) {
    const float fraction = 1.0F + static_cast<float>(random.next_u32() >> 9) * 0x1p-23F;
    const int exponent = std::min(127, lowest + below(random, spread));
    value = std::ldexp(fraction, exponent) * (below(random, 2) == 0 ? 1.0F : -1.0F);
    const int kind = below(random, 40);
    if (kind == 0) value = std::copysign(0.0F, value);
    if (kind == 1) value = std::ldexp(std::copysign(1.0F, value), exponent);
    if (kind == 2) value = std::bit_cast<float>(random.next_u32());
    if (kind == 3 && nonfinite) value = std::numeric_limits<float>::infinity();
    if (kind == 4 && nonfinite) value = std::numeric_limits<float>::quiet_NaN();
    if (!nonfinite && !std::isfinite(value)) value = 0.0F;
  }
  return values;
}

/// Tiles for kernels that take several of a row at once, in one row or, as often, in a few.
inline Tiling run_tiling(Random& random) {
  constexpr int lengths[] = {4, 8, 12, 16, 16, 24, 32, 32, 40, 64, 128, 144, 256};
  const int rows = below(random, 2) == 0 ? 1 : 1 + below(random, 10);
  const int tile = lengths[below(random, 13)], tiles = 1 + below(random, 80);
  const int columns = tile * tiles - (below(random, 3) == 0 ? below(random, tile) : 0);
  return {{rows, columns}, {1 + below(random, rows), tile}};
}

/// Kernels take tiles of up to 8 vectors several at a time; a few lengths beyond that.
constexpr int most_run_length = 8 * 16 + 5;

/// Tiles of this length: in one row, or in rows of a few tiles. The last of a row may be short.
inline Tiling length_tiling(Random& random, int tile) {
  const bool one_row = below(random, 2) == 0;
  const int rows = one_row ? 1 : 1 + below(random, 40);
  const int tiles = 1 + below(random, one_row ? 40 : 4);
  const int columns = tile * tiles - (below(random, 4) == 0 ? 0 : below(random, tile));
  return {{rows, columns}, {1, std::min(tile, columns)}};
}

/// Floats between guards.
class Guarded {
 public:
  explicit Guarded(const std::vector<float>& values) : all_(values.size() + 2 * guards, guard) {
    std::copy(values.begin(), values.end(), this->values().begin());
  }
  std::span<float> values() { return std::span(all_).subspan(guards, all_.size() - 2 * guards); }
  bool guards_stay() const {
    const auto stays = [](float value) { return value == guard; };
    const auto some = static_cast<std::ptrdiff_t>(guards);
    return std::all_of(all_.begin(), all_.begin() + some, stays) &&
           std::all_of(all_.end() - some, all_.end(), stays);
  }

 private:
  static constexpr float guard = 77.0F;
  static constexpr std::size_t guards = 40;
  std::vector<float> all_;
};

/// Calls quantize(in, out) for an output of its own and in place; the number of them that differ
/// from `expected` by same(a, b) or touch what lies beside. The input ends with its allocation.
template <class Quantize, class Same>
int wrong_outputs(const std::vector<float>& in, const std::vector<float>& expected,
                  Quantize&& quantize, Same&& same) {
  const std::vector<float> exact(in.begin(), in.end());
  Guarded out(std::vector<float>(in.size())), in_place(in);
  quantize(std::span<const float>(exact), out.values());
  quantize(std::span<const float>(in_place.values()), in_place.values());
  int wrong = 0;
  for (Guarded* made : {&out, &in_place})
    wrong += !made->guards_stay() || !std::ranges::equal(made->values(), expected, same);
  return wrong;
}

/// Most tiles of similar numbers, and a few of zeros, numbers at the ends of float32, and
/// (`nonfinite`) with NaN or an infinity.
inline std::vector<float> run_values(Random& random, const Tiling& tiling, bool nonfinite) {
  std::vector<int> exponents, kinds;
  const int usual = below(random, 250) - 145;
  for (std::int64_t t = 0; t < tiling.tiles(); ++t) {
    kinds.push_back(below(random, 200));
    exponents.push_back(kinds.back() == 0   ? -130 - below(random, 20)
                        : kinds.back() == 1 ? 125
                                            : usual + below(random, 6));
  }
  std::vector<float> values(static_cast<std::size_t>(numel(tiling.shape)));
  for_each_element(tiling, [&](std::size_t i, std::size_t t) {
    values[i] = std::ldexp(static_cast<float>(random.uniform() * 2.0 - 1.0), exponents[t] + 2);
    if (kinds[t] == 2 || below(random, 30) == 0) values[i] = std::copysign(0.0F, values[i]);
    if (kinds[t] > 4 || !nonfinite || below(random, 8) != 0) return;
    if (kinds[t] == 3) values[i] = std::copysign(std::numeric_limits<float>::infinity(), values[i]);
    if (kinds[t] == 4) values[i] = std::numeric_limits<float>::quiet_NaN();
  });
  return values;
}

/// Checks that quantize(spec, tiling, in, out, isa) gives definition(spec, tiling, in) up to
/// same(a, b), for specs of random_spec(random) on tiles of every length, on every instruction set
/// and in place.
template <class RandomSpec, class Quantize, class Definition, class Same>
void check_every_length(Random random, RandomSpec&& random_spec, Quantize&& quantize,
                        Definition&& definition, Same&& same) {
  for (int tile = 1; tile <= most_run_length; ++tile)
    for (int trial = 0; trial < 8; ++trial) {
      const auto spec = random_spec(random);
      const Tiling tiling = length_tiling(random, tile);
      const std::vector<float> in = run_values(random, tiling, trial % 2 == 0);
      const std::vector<float> expected = definition(spec, tiling, in);
      for (const simd::Isa isa : simd::available_isas()) {
        const auto on_isa = [&](std::span<const float> from, std::span<float> to) {
          quantize(spec, tiling, from, to, isa);
        };
        if (wrong_outputs(in, expected, on_isa, same) != 0)
          FAIL(shape_text(tiling.shape) << " in " << tile << " on " << simd::isa_name(isa));
      }
    }
  SUCCEED();
}

}  // namespace mase::formats
