// SPDX-License-Identifier: Apache-2.0
// Common parts of the operations on microscaling elements.
#pragma once

#include <limits>

#include "formats/block/block_lanes.hpp"
#include "formats/microscaling/mx_kernel.hpp"

namespace mase::formats::kernels {
namespace {

using simd::Simd;

/// x times a tile's first factor. The product is exact unless it underflows, which matters only to
/// `floor` and `stochastic`: they may take any negative x below 0. (Subtracting 2^-126 changes only
/// numbers far below the steps of elements.)
template <Rounding rounding>
MASE_SIMD Simd::Vec scaled_down(Simd::Vec x, Simd::Vec factor) {
  const Simd::Vec scaled = Simd::mul(x, factor);
  if constexpr (rounding != Rounding::floor && rounding != Rounding::stochastic) return scaled;
  return Simd::sub(scaled, Simd::where_less(x, Simd::all(0.0F), Simd::all(0x1p-126F)));
}

/// The code, or 0 in a tile that is NaN.
MASE_SIMD Simd::Vec code_in_tile(Simd::Bits code, Simd::Vec up) {
  const Simd::Vec infinity = Simd::all(std::numeric_limits<float>::infinity());
  return Simd::select_less(up, infinity, Simd::floats(code), Simd::all(0.0F));
}

}  // namespace
}  // namespace mase::formats::kernels
