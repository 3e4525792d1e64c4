// SPDX-License-Identifier: Apache-2.0
// The element kernels of block_fp, block_minifloat and block_log in profile reference, for each
// instruction set: the bits of BlockElements::quantize_reference.
#pragma once

#include "formats/block/block_strip.hpp"

namespace mase::formats::kernels {

/// The factors of a tile.
enum ReferenceFactor : std::size_t {
  reference_top,      ///< the bits of BlockElements::reference_exponent; for block_fp, 2^that
  reference_nothing,  ///< 0, or the NaN that the whole tile becomes
  reference_factor_count,
  reference_zeta = reference_factor_count,  ///< for powers of two: the addend that lifts zeros
};

/// The numbers that all elements share.
struct ReferenceBlockGrid {
  const std::int32_t* carries = nullptr;  ///< carries of the RoundedLog2 for their exponents
  float unit = 1;                         ///< 2^bits of a fraction
  std::int32_t span = 0;  ///< exponents of a tile: this many below the top and the top itself
  float addend = 0;       ///< 0 when tiles are put back by an addition, else -0, which adds nothing
};

using ReferenceStrip = void (*)(const ReferenceBlockGrid& grid, const Strip& strip,
                                const TileFactors& factors);
struct ReferenceBlockKernels {
  ReferenceStrip block_fp, block_minifloat, block_log;
};
MASE_KERNELS(ReferenceBlockKernels, reference_block_kernels, avx512);

}  // namespace mase::formats::kernels
