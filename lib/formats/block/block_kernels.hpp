// SPDX-License-Identifier: Apache-2.0
// The element kernels of block_fp, block_minifloat and block_log for each instruction set (profile
// exact). They quantize y = x * 2^k, where k makes the grid the same for all tiles, and multiply
// the result by 2^-k.
#pragma once

#include <algorithm>
#include <bit>

#include "formats/block/block_strip.hpp"
#include "formats/minifloat/log_kernel.hpp"
#include "formats/minifloat/minifloat_kernel.hpp"
#include "formats/rounding.hpp"

namespace mase::formats::kernels {

/// The product of factors 0 and 1 is 2^k, that of factors 2 and 3 is 2^-k.
constexpr std::size_t scaled_factors = 4;

/// Sets 2^exponent as a product of two factors. Exponents beyond two factors need no third one:
/// results are 0 or saturated either way. (A constant function, so that threads of a GPU can call
/// it.)
constexpr void set_power(float* one, float* other, int exponent) {
  constexpr int lowest = -126, highest = 127;
  const int whole = std::clamp(exponent, 2 * lowest, 2 * highest);
  const int first = std::clamp(whole, lowest, highest);
  *one = std::bit_cast<float>((first + 127) << 23);
  *other = std::bit_cast<float>((whole - first + 127) << 23);
}

/// Sets tile t's factors for 2^k. One float32 cannot hold every 2^k, two can. Two products are as
/// good as one: with factors above 1 the first product is exact or infinite, which saturates; with
/// factors below 1 it loses bits only when y is far below every grid. (The way back starts with the
/// larger of the two powers.)
inline void set_scale(TileFactors& factors, std::size_t tile, int k) {
  set_power(factors.of(0) + tile, factors.of(1) + tile, k);
  set_power(factors.of(2) + tile, factors.of(3) + tile, -k);
}

/// The grid of block_fp: its magnitudes as integers.
struct BlockFpGrid {
  float limit = 0;     ///< the largest magnitude, rounded to float32
  int sign_shift = 0;  ///< 32 - width, for codes
};

/// The top exponent to which minifloats and powers of two are scaled. There all their values are
/// normal float32 numbers (up to 7 bits of exponent).
constexpr int scaled_top = 100;

/// The grid of a scaled minifloat.
struct BlockMinifloatGrid {
  MinifloatGrid values;
  MinifloatCodeGrid codes;
};
BlockMinifloatGrid block_minifloat_grid(const MinifloatSpec& scaled);

/// A kernel for strips with scaled_factors per tile, and kernels that go by a rule: for runs
/// (block_runs.hpp), which returns the number of elements done, and for columns
/// (block_columns.hpp), which returns the number of columns done.
template <class Grid>
struct GridKernel {
  void (*on_strip)(const Grid& grid, const Strip& strip, const TileFactors& factors);
  std::size_t (*on_runs)(const Grid& grid, const PowerRule& rule, const Runs& runs);
  std::size_t (*on_columns)(const Grid& grid, const PowerRule& rule, const Strip& strip);
};

/// The kernels that write values, and those that write the bits of codes.
template <class Grid>
struct GridKernels {
  ByRounding<GridKernel<Grid>> values, codes;
};
MASE_KERNELS(GridKernels<BlockFpGrid>, block_fp_kernels, avx512);
MASE_KERNELS(GridKernels<BlockMinifloatGrid>, block_minifloat_kernels, avx512);
MASE_KERNELS(GridKernels<LogGrid>, block_log_kernels, avx512);

}  // namespace mase::formats::kernels
