// SPDX-License-Identifier: Apache-2.0
// The element kernels of block_fp, block_minifloat and block_log for each instruction set (profile
// exact). They quantize y = x * 2^k, with k such that the tile's grid becomes one and the same for
// all tiles, and multiply the result by 2^-k.
#pragma once

#include <algorithm>
#include <bit>

#include "formats/block/block_strip.hpp"
#include "formats/minifloat/log_kernel.hpp"
#include "formats/minifloat/minifloat_kernel.hpp"
#include "formats/rounding.hpp"

namespace mase::formats::kernels {

/// Factors 0 and 1 make 2^k, 2 and 3 make 2^-k.
constexpr std::size_t scaled_factors = 4;

/// 2^exponent as a product. Beyond two factors nothing changes: results are 0 or saturated either
/// way.
inline void set_power(float* one, float* other, int exponent) {
  constexpr int lowest = -126, highest = 127;
  const int whole = std::clamp(exponent, 2 * lowest, 2 * highest);
  const int first = std::clamp(whole, lowest, highest);
  *one = std::bit_cast<float>((first + 127) << 23);
  *other = std::bit_cast<float>((whole - first + 127) << 23);
}

/// Sets tile t's factors for 2^k. One float32 has no room for every k, two have. Both products are
/// as good as one: of factors above 1 the first product is exact or infinite, which saturates; of
/// factors below 1 it loses bits only where y is far below every grid. (The way back starts with
/// the larger power of the two.)
inline void set_scale(TileFactors& factors, std::size_t tile, int k) {
  set_power(factors.of(0) + tile, factors.of(1) + tile, k);
  set_power(factors.of(2) + tile, factors.of(3) + tile, -k);
}

/// block_fp's magnitudes, as integers.
struct BlockFpGrid {
  float limit = 0;     ///< the largest, rounded to float32
  int sign_shift = 0;  ///< 32 - width; for codes
};

/// Minifloats and powers of two are scaled to tops of this exponent, where all their values are
/// normal float32 numbers (up to 7 bits of exponent).
constexpr int scaled_top = 100;

/// A scaled minifloat.
struct BlockMinifloatGrid {
  MinifloatGrid values;
  MinifloatCodeGrid codes;
};
BlockMinifloatGrid block_minifloat_grid(const MinifloatSpec& scaled);

/// A kernel on strips, with scaled_factors per tile, and by a rule on runs (block_runs.hpp), which
/// returns how many elements are done, and on columns (block_columns.hpp), which returns how many
/// of them are.
template <class Grid>
struct GridKernel {
  void (*on_strip)(const Grid& grid, const Strip& strip, const TileFactors& factors);
  std::size_t (*on_runs)(const Grid& grid, const PowerRule& rule, const Runs& runs);
  std::size_t (*on_columns)(const Grid& grid, const PowerRule& rule, const Strip& strip);
};

/// The kernels that write values, and those that write codes' bits.
template <class Grid>
struct GridKernels {
  ByRounding<GridKernel<Grid>> values, codes;
};
MASE_KERNELS(GridKernels<BlockFpGrid>, block_fp_kernels, avx512);
MASE_KERNELS(GridKernels<BlockMinifloatGrid>, block_minifloat_kernels, avx512);
MASE_KERNELS(GridKernels<LogGrid>, block_log_kernels, avx512);

}  // namespace mase::formats::kernels
