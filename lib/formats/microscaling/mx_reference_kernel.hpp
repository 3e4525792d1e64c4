// SPDX-License-Identifier: Apache-2.0
// The element kernels of microscaling formats in profile reference, for each instruction set: the
// bits of quantize_mx_scalar.
#pragma once

#include "formats/block/block_strip.hpp"

namespace mase::formats::kernels {

/// The factors of a tile: the divisor of elements, the factor on the way back (the stored exponent
/// is clamped after elements are made), and 0 or the NaN that the whole tile becomes.
enum MxReferenceFactor : std::size_t {
  mx_reference_down,
  mx_reference_up,
  mx_reference_nothing,
  mx_reference_factor_count
};

/// An element format as numbers.
struct MxReferenceGrid {
  float high = 0;  ///< for integers: 2^(width - 1)
  // For minifloats:
  float to_fraction = 0;    ///< from the upper 15 bits of a float32 fraction: 2^(bits - 15)
  std::int32_t hidden = 0;  ///< 2^bits of a fraction
  std::int32_t bias = 0;
  std::int32_t top_code = 0;  ///< highest code of an exponent
  std::int32_t fraction_bits = 0;
};

using MxReferenceStrip = void (*)(const MxReferenceGrid& grid, const Strip& strip,
                                  const TileFactors& factors);
struct MxReferenceKernels {
  MxReferenceStrip integer, offset, minifloat;  ///< `offset`: integers with an offset scale
};
MASE_KERNELS(MxReferenceKernels, mx_reference_kernels, avx512);

}  // namespace mase::formats::kernels
