// SPDX-License-Identifier: Apache-2.0
// The element kernels of block_fp, block_minifloat and block_log in profile reference, for each
// instruction set: the bits of BlockElements::quantize_reference.
#pragma once

#include "formats/block/block_strip.hpp"

namespace mase::formats::kernels {

/// Factors of a tile.
enum ReferenceFactor : std::size_t {
  reference_top,      ///< the bits of BlockElements::reference_exponent; of block_fp, 2^that
  reference_nothing,  ///< 0, or the NaN that the whole tile becomes
  reference_factor_count,
  reference_zeta = reference_factor_count,  ///< of powers of two: what lifts zeros
};

/// What elements have in common.
struct ReferenceBlockGrid {
  const std::int32_t* carries = nullptr;  ///< of the RoundedLog2 that gives their exponents
  float unit = 1;                         ///< 2^bits of a fraction
  std::int32_t span = 0;  ///< exponents of a tile: this many below the top and the top itself
  float addend = 0;  ///< 0 where tiles are put back by an addition, else -0, which adds nothing
};

using ReferenceStrip = void (*)(const ReferenceBlockGrid& grid, const Strip& strip,
                                const TileFactors& factors);
struct ReferenceBlockKernels {
  ReferenceStrip block_fp, block_minifloat, block_log;
};
MASE_KERNELS(ReferenceBlockKernels, reference_block_kernels, avx512);

}  // namespace mase::formats::kernels
